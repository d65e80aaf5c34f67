import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { download } from '../support/client.ts';
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

describe('the examples of the README', () => {
  const script = async () => {
    const blocks = [await exampleIn('README.md', '/v1/instant/'), await exampleIn('README.md', 'import/base64')];
    await mkdir(join(folder, '.lathe'), { recursive: true });
    await writeFile(join(folder, '.lathe', 'identity.json'), JSON.stringify({ apiKey: service.apiKey }));
    // The only difference to what a reader types.
    return blocks.map((block) => block.replace('http://localhost:3000', service.url));
  };
  const bash = async (text: string) => run('bash', ['-uc', text], { cwd: folder });
  const output = () => join(folder, 'picture.webp');

  test('convert a picture by curl alone', async () => {
    await writeFile(join(folder, 'picture.png'), await twoHalves(40, 20));
    const [instant = '', job = ''] = await script();

    await bash(instant);
    expect(await readFile(output(), 'latin1')).toMatch(/^RIFF....WEBP/s);
    await rm(output());

    await bash(`${instant.slice(0, instant.indexOf('curl'))}${job}`);
    expect(await readFile(output(), 'latin1')).toMatch(/^RIFF....WEBP/s);
  });

  test('show why a request or a job fails', async () => {
    await writeFile(join(folder, 'picture.png'), 'GIF89a');
    const [instant = '', job = ''] = await script();
    const variables = instant.slice(0, instant.indexOf('curl'));

    expect((await bash(instant)).stdout).toContain('processing_failed');
    await expect(bash(variables + job)).rejects.toMatchObject({ stderr: expect.stringContaining('failed: ') });
    await expect(bash(variables + job.replace('"convert"', '"covert"'))).rejects.toMatchObject({
      stdout: expect.stringContaining('Did you mean convert?'),
    });
  });
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
