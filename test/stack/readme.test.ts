import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { download, type JobView, taskOf } from '../support/client.ts';
import { twoHalves } from '../support/images.ts';
import { type JoinedService, joinService } from '../support/shared-service.ts';

const run = promisify(execFile);

/** Returns the block of code of a document that contains a text. */
async function exampleIn(document: string, text: string): Promise<string> {
  const content = await readFile(join(projectRoot, document), 'utf8');
  const blocks = [...content.matchAll(/^```\w*\n(.*?)^```/gms)].flatMap(([, block = '']) => block);
  const found = blocks.filter((block) => block.includes(text));
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

let service: JoinedService;
let folder: string;

beforeAll(async () => {
  service = await joinService();
  folder = await mkdtemp(join(tmpdir(), 'readme-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the examples of the README convert a picture by curl alone', async () => {
  await writeFile(join(folder, 'picture.png'), await twoHalves(40, 20));
  const bash = async (script: string) => (await run('bash', ['-euc', script], { cwd: folder })).stdout;
  const commands = async (text: string) =>
    (await exampleIn('README.md', text)).replaceAll('curl ', 'curl --silent --show-error --fail-with-body ');
  const instant = (await commands('/v1/instant/'))
    .replace('http://localhost:3000', service.url)
    .replace('<the key that npm start printed>', service.apiKey);

  await bash(instant);

  const output = join(folder, 'picture.webp');
  expect(await readFile(output, 'latin1')).toMatch(/^RIFF....WEBP/s);
  await rm(output);

  const [create = '', wait = '', fetchFile = ''] = (await commands('import/base64')).split(
    /(?<=\nEND\n)|(?<=\/wait .*\n)/,
  );
  const variables = instant.slice(0, instant.indexOf('curl'));
  const { id }: JobView = JSON.parse(await bash(variables + create));
  const job: JobView = JSON.parse(await bash(variables + wait.replace('<id of the job>', id)));
  await bash(fetchFile.replace('<result.url of the task "link">', taskOf(job, 'link').result.url ?? ''));

  expect(await readFile(output, 'latin1')).toMatch(/^RIFF....WEBP/s);
});

test('the smoke test sends files through the service, and says what to do if it cannot', async () => {
  const smoke = (...args: string[]) => run(process.execPath, [join(projectRoot, 'infra/smoke/main.ts'), ...args]);

  // One engine that starts fast; the others have tests of their own.
  const { stdout } = await smoke(
    service.url,
    '--key',
    service.apiKey,
    '--only',
    'websocket,socket.io,image,compress,merge',
  );

  const lines = /^(?:websocket|socket\.io|image|compress|merge) .* ok {2,}\d+\.\d s {2}[\d,]+ bytes$/gm;
  expect(stdout.match(lines)).toHaveLength(5);
  expect(stdout).toContain('5 ok, 0 skipped, 0 failed');
  await expect(smoke(service.url, '--key', 'wrong')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The API key was refused. Create one with npm run key'),
  });
});

test('the example of docs/api.md uploads a video and converts it', async () => {
  const video = join(folder, 'video.mov');
  await run('ffmpeg', ['-loglevel', 'error', '-f', 'lavfi', '-i', 'testsrc=size=64x48:duration=1', video]);
  const script = `import fs from 'node:fs';
const API = ${JSON.stringify(service.url)};
const KEY = ${JSON.stringify(service.apiKey)};
${await exampleIn('docs/api.md', 'import/upload')}`;
  await writeFile(join(folder, 'example.mjs'), script);

  const { stdout } = await run(process.execPath, ['example.mjs'], { cwd: folder });

  expect((await download(stdout.trim())).subarray(4, 8).toString()).toBe('ftyp');
});

test('the curl example of docs/api.md uploads a file in parts', async () => {
  const own = join(folder, 'in-parts');
  await mkdir(own);
  const content = randomBytes(17 * 1024 ** 2);
  await writeFile(join(own, 'video.mov'), content);
  const { id, result } = await service.client.createTask('import/upload');
  const script = await exampleIn('docs/api.md', '/s3/multipart');

  await run('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: own,
    env: { ...process.env, ENDPOINT: result.form?.endpoint },
  });

  const done = await service.client.waitForTask(id);
  expect((await download(done.result.url ?? '')).equals(content)).toBe(true);
});
