import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedHeaders } from '../../functions/events/webhooks/sign.ts';
import { projectRoot } from '../../infra/bundling.ts';
import { isOperation } from '../../shared/operations/operations.ts';
import { newSecret } from '../../shared/webhooks/webhook.ts';
import { freePort } from '../support/free-port.ts';
import { type JoinedService, joinService } from '../support/shared-service.ts';
import { skipBecause } from '../support/skip.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snippets-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const read = (document: string) => readFile(join(projectRoot, 'docs', document), 'utf8');

/** Returns the code of a language in a document that contains a text. */
async function snippet(document: string, language: string, text: string): Promise<string> {
  const blocks = [...(await read(document)).matchAll(/^```(\w*)\n(.*?)^```/gms)];
  const found = blocks.filter(([, name, code = '']) => name === language && code.includes(text));
  expect(found).toHaveLength(1);
  return found[0]?.[2] ?? '';
}

interface Receiver {
  process: ChildProcess;
  url: string;
  output: () => string;
}

async function startReceiver(command: string[], secret: string, port: number): Promise<Receiver> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const url = `http://127.0.0.1:${port}/`;
  await until('the receiver listens', () =>
    fetch(url, { method: 'POST', body: 'x' }).then(
      () => true,
      () => false,
    ),
  );
  return { process: child, url, output: () => output };
}

const languages: [name: string, language: string, file: string, command: (file: string) => string[]][] = [
  ['Node', 'js', 'receiver.mjs', (file) => [process.execPath, file]],
  ['Python', 'python', 'receiver.py', (file) => ['python3', file]],
  ['Go', 'go', 'receiver.go', () => [join(folder, 'receiver')]],
];

describe('the receiver of webhooks in docs/api.md', () => {
  for (const [name, language, file, command] of languages) {
    const isInstalled =
      name === 'Node' || spawnSync(language === 'go' ? 'go' : 'python3', ['--help']).error === undefined;
    const reason = isInstalled ? undefined : `${name} is not installed, which the example in ${name} needs.`;
    test(`in ${name} accepts what the service signs, and nothing else`, {
      timeout: 300_000,
      ...skipBecause(reason),
    }, async () => {
      await writeFile(join(folder, file), await snippet('api.md', language, 'WEBHOOK_SECRET'));
      if (language === 'go') await run('go', ['build', '-o', 'receiver', file], { cwd: folder });
      const secret = newSecret();
      const receiver = await startReceiver(command(file), secret, await freePort());
      try {
        const body = JSON.stringify({ type: 'job.completed', data: { id: '6af9126cc0830000f25c62d1', tag: 'Größe' } });
        const delivery = { webhook: 'w', id: 'd', body };
        const post = async (headers: Record<string, string>, sent = body) =>
          (await fetch(receiver.url, { method: 'POST', headers, body: sent })).status;
        const now = Date.now();

        expect(await post(signedHeaders(delivery, secret, now))).toBe(204);
        expect(await post(signedHeaders(delivery, secret, now), body.replace('completed', 'failed'))).toBe(400);
        expect(await post(signedHeaders(delivery, newSecret(), now))).toBe(400);
        expect(await post(signedHeaders(delivery, secret, now - 600_000))).toBe(400);
        expect(await post({ ...signedHeaders(delivery, secret, now), 'webhook-timestamp': 'NaN' })).toBe(400);
        expect(await post({})).toBe(400);
        await until('the event is printed', () => receiver.output() !== '');
        expect(receiver.output()).toBe('job.completed 6af9126cc0830000f25c62d1\n');
      } finally {
        receiver.process.kill();
      }
    });
  }
});

describe('on a running service', () => {
  let service: JoinedService;
  let bash: (script: string) => Promise<string>;

  beforeAll(async () => {
    service = await joinService();
    const env = { ...process.env, API: service.url, KEY: service.apiKey };
    bash = async (script) => (await run('bash', ['-euc', script], { cwd: folder, env })).stdout;
  });

  test('webhooks can be tried on a laptop as docs/api.md says', async () => {
    const port = await freePort();
    const commands = (await snippet('api.md', 'sh', '/v1/account/webhooks')).replace(
      'localhost:4000',
      `127.0.0.1:${port}`,
    );
    const [register = '', , create = ''] = commands.split(/(?=^WEBHOOK_SECRET)|(?<=another terminal\n)/m);
    await writeFile(join(folder, 'receiver.mjs'), await snippet('api.md', 'js', 'WEBHOOK_SECRET'));
    const { secret }: { secret: string } = JSON.parse(await bash(register));
    const receiver = await startReceiver([process.execPath, 'receiver.mjs'], secret, port);
    try {
      const { id }: { id: string } = JSON.parse(await bash(create));
      await until('the end of the job arrives', () => receiver.output().includes(`job.completed ${id}`));
    } finally {
      receiver.process.kill();
    }
  });

  describe('the calls of docs/coming-from.md', () => {
    /** How each file begins that a call writes. */
    const signatures: Record<string, RegExp> = { pdf: /^%PDF-/, png: /^\x89PNG/, json: /^\{.*\}$/s };

    test('do what the tables say', { timeout: 300_000 }, async () => {
      const document = await read('coming-from.md');
      const lathe = await snippet('coming-from.md', 'sh', 'lathe_api()');
      const calls = [...document.matchAll(/`(lathe_api [^`]+)`/g)].map(([, call = '']) => call);
      expect(calls.length).toBeGreaterThan(14);
      await writeFile(join(folder, 'index.html'), '<h1>Page</h1>');
      await writeFile(join(folder, 'notes.md'), '# Notes\n\nText.\n');
      await writeFile(join(folder, 'job.json'), await snippet('coming-from.md', 'json', '"tag": "shop"'));
      await bash(`${lathe}
        lathe_api instant/convert -F file=@notes.md -F output_format=docx -o report.docx
        lathe_api instant/convert -F file=@notes.md -F output_format=pdf -o 1.pdf`);
      await copyFile(join(folder, '1.pdf'), join(folder, '2.pdf'));

      for (const call of calls) {
        const output = /-o (\S+)$/.exec(call)?.[1] ?? '';
        await rm(join(folder, output), { force: true });
        await bash(`${lathe}${call}`);
        const content = await readFile(join(folder, output), 'latin1');
        expect([call, content]).toEqual([call, expect.stringMatching(signatures[output.split('.')[1] ?? ''] ?? /^$/)]);
        // The first PDF of a document is the input of a later row.
        if (output === 'report.pdf') expect(await bash('pdfinfo report.pdf')).toMatch(/Pages: +1/);
      }

      expect(await bash('pdfinfo merged.pdf')).toMatch(/Pages: +2/);
      const { width = 0, height = 1 } =
        /Page size: +(?<width>[\d.]+) x (?<height>[\d.]+)/.exec(await bash('pdfinfo wide.pdf'))?.groups ?? {};
      expect(Number(width)).toBeGreaterThan(Number(height));
      await expect(bash('pdfinfo locked.pdf')).rejects.toThrow('Incorrect password');
      expect(JSON.parse(await readFile(join(folder, 'ended.json'), 'utf8'))).toMatchObject({ status: 'completed' });
      expect(await readFile(join(folder, 'archive.pdf'), 'latin1')).toMatch(/pdfaid:part/);
    });

    test('name operations that exist', async () => {
      const rows = (await read('coming-from.md')).split('\n').filter((line) => line.startsWith('| '));
      const ours = rows.flatMap((row) => [...(row.split(' | ')[1] ?? '').matchAll(/`((?:import|export)\/\w+)`/g)]);
      expect(ours.length).toBeGreaterThan(9);
      for (const [, name = ''] of ours) expect([name, isOperation(name)]).toEqual([name, true]);
    });
  });
});
