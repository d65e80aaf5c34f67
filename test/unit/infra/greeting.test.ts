import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { greeting } from '../../../infra/local/greeting.ts';

const at = { url: 'http://localhost:3000', apiKey: 'lathe_key' };
const lineOf = (text: string) => /^Convert a file:\n\n(.+)$/m.exec(text)?.[1] ?? '';

test('the greeting says nothing of programs where all are there', () => {
  expect(greeting(at, { engines: {} }, 'linux')).toMatch(/^API key {6}lathe_key\n\nConvert a file:/m);
});

test('the greeting lists in a line for each engine what it lacks, by the names people know', () => {
  const text = greeting(
    at,
    { engines: { image: { gs: '', pdfinfo: '', pdftocairo: '' }, media: { ffprobe: '' } } },
    'linux',
  );
  expect(text).toContain('  image works without Ghostscript, poppler\n  media is off without ffprobe\n');
});

test('the greeting says on other systems than Linux that programs are not kept from anything', () => {
  expect(greeting(at, { engines: {} }, 'darwin')).toContain('Only Linux can isolate');
});

test.each([
  ['a webp', {}, '"output_format":"webp"'],
  ['the file alone where nothing converts it', { image: { sharp: '' } }, '"export/url","input":"import"'],
] as const)('the line to try gives %s', (_what, engines, expected) => {
  expect(lineOf(greeting(at, { engines }, 'linux'))).toContain(expected);
});

test('the line to try runs in a shell with Node alone, and waits until the job has ended', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    const ended = asked.length > 2 ? '2026-01-01T00:00:00Z' : null;
    request.resume().on('end', () => response.end(JSON.stringify({ id: 'abc', status: 'completed', endedAt: ended })));
  }).listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const line = lineOf(greeting({ url, apiKey: `it's "quoted"` }, { engines: {} }, 'linux'));
    const { stdout } = await promisify(execFile)('sh', ['-c', line]);
    expect(JSON.parse(stdout)).toMatchObject({ id: 'abc', endedAt: '2026-01-01T00:00:00Z' });
    const key = `Bearer it's "quoted"`;
    expect(asked).toEqual([
      `POST /v1/process/jobs ${key}`,
      `GET /v1/process/jobs/abc/wait ${key}`,
      `GET /v1/process/jobs/abc/wait ${key}`,
    ]);
  } finally {
    server.close();
  }
});
