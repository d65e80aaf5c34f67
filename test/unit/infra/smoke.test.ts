import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { type Case, cases, pathOf } from '../../../infra/smoke/cases.ts';
import { checkPage } from '../../../infra/smoke/check-page.ts';
import { lineOf, runCase } from '../../../infra/smoke/run-case.ts';
import { Service } from '../../../infra/smoke/service.ts';

const [image] = cases;
if (!image) throw new Error('There are no cases.');

const usable = { version: '1', engines: [{ name: 'image', usable: true }] };
const options = { seconds: 60, onProgress: () => undefined };

type Responses = Record<string, (path: string) => { status?: number; headers?: Record<string, string>; body: unknown }>;

/** Serves responses by the start of the path; `{url}` in a body is the URL of the server. */
async function serve(responses: Responses) {
  const server = createServer((req, res) => {
    req.resume();
    const [, respond] = Object.entries(responses).find(([path]) => req.url?.startsWith(path)) ?? [];
    const { status = 200, headers = {}, body } = respond?.(req.url ?? '') ?? { status: 404, body: 'not here' };
    const content = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body).replaceAll('{url}', url));
    res.writeHead(status, headers).end(content);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    service: new Service(url, 'key', { pauseMs: 1 }),
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The responses of a service that ends each job as given, with a file as its output. */
function jobs(ended: object, output = Buffer.from('no picture')): Responses {
  const upload = { name: 'upload-0', operation: 'import/upload', status: 'processing' };
  const form = { url: '{url}/form', parameters: { key: 'uploads/1' } };
  const link = { name: 'link', operation: 'export/url', status: 'completed' };
  const files = [{ url: '{url}/file', filename: 'a.webp', size: output.length }];
  return {
    '/v1/query/formats/convert': () => ({ body: { formats: [{ ext: 'webp' }] } }),
    '/v1/process/jobs/1': () => ({
      body: { id: '1', endedAt: 'now', status: 'completed', tasks: [{ ...link, result: { files } }], ...ended },
    }),
    '/v1/process/jobs': () => ({
      body: { id: '1', endedAt: null, status: 'processing', tasks: [{ ...upload, result: { form } }] },
    }),
    '/form': () => ({ status: 204, body: '' }),
    '/file': () => ({ body: output }),
  };
}

test('there is a case for each family of files and each operation that the spec has', () => {
  expect(cases.map(({ name }) => name)).toEqual([
    'image',
    'audio',
    'video',
    'document',
    'archive',
    'e-book',
    'web page',
    'compress',
    'merge',
  ]);
});

test('what an engine cannot do is skipped with its reason, and so is what the format query does not list', async () => {
  using stub = await serve({ '/v1/query/formats/convert?input_format=png': () => ({ body: { formats: [] } }) });
  const off = { version: '1', engines: [{ name: 'image', usable: false, reason: 'It lacks a program.' }] };
  expect(await runCase(stub.service, off, image, options)).toEqual({
    result: 'skipped',
    reason: 'It lacks a program.',
  });
  expect(await runCase(stub.service, usable, image, options)).toEqual({
    result: 'skipped',
    reason: 'The service does not offer convert of png to webp.',
  });
});

test('an output that is not what it should be fails, and so does one whose size is not that of the task', async () => {
  using wrong = await serve(jobs({}));
  expect(await runCase(wrong.service, usable, image, options)).toMatchObject({
    result: 'failed',
    reason: expect.stringMatching(/^The output is wrong: it is no picture: .* Job 1\.$/),
  });
  const truncated = { ...jobs({}), '/file': () => ({ body: Buffer.from('no') }) };
  using short = await serve(truncated);
  expect(await runCase(short.service, usable, image, options)).toEqual({
    result: 'failed',
    reason: 'The download has 2 bytes, but the task says 10.',
  });
});

test('a task that failed is named with its error, and one that no worker takes with what to look at', async () => {
  const result = { errorCode: 'processing_failed', msg: 'No.' };
  const tasks = [{ name: 'step-0', operation: 'convert', status: 'failed', result }];
  using failing = await serve(jobs({ status: 'failed', tasks }));
  expect(await runCase(failing.service, usable, image, options)).toMatchObject({
    reason: expect.stringMatching(/^convert failed: processing_failed No\. For more, see the log: .* job 1\.$/),
  });
  const queued = [{ name: 'step-0', operation: 'convert', status: 'queued', result: {} }];
  using stuck = await serve(jobs({ endedAt: null, status: 'queued', tasks: queued }));
  expect(await runCase(stuck.service, usable, image, { ...options, seconds: 0.05 })).toMatchObject({
    reason: expect.stringContaining('convert was queued after 0.05 seconds. No worker has taken it'),
  });
});

test('a wait that is refused becomes a poll, and a request that is throttled is sent again', async () => {
  const paths: string[] = [];
  const throttled = () => ({ status: 503, body: { message: 'Service Unavailable' } });
  using stub = await serve({
    '/v1/process/jobs/1/wait': (path) => {
      paths.push(path);
      return throttled();
    },
    '/v1/process/jobs/1': (path) =>
      paths.push(path) < 3 ? throttled() : { body: { id: '1', endedAt: 'now', status: 'completed', tasks: [] } },
  });

  expect(await stub.service.waitForJob('1')).toMatchObject({ endedAt: 'now' });

  const path = '/v1/process/jobs/1';
  expect(paths).toEqual([`${path}/wait`, path, path]);
});

test('the page is loaded with what it names, and fails without its headers or its scripts', async () => {
  const html = Buffer.from('<script type="module" src="/assets/a-1.js"></script>');
  const headers = {
    'content-security-policy': "default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
  };
  const kept = { 'cache-control': 'public, max-age=31536000, immutable' };
  const script = { '/assets/a-1.js': () => ({ headers: kept, body: Buffer.from('1') }) };
  using whole = await serve({ ...script, '/': () => ({ headers, body: html }) });
  expect(await checkPage(whole.service)).toEqual({ result: 'ok', bytes: html.length + 1 });
  using open = await serve({ ...script, '/': () => ({ headers: { 'cache-control': 'no-cache' }, body: html }) });
  expect(await checkPage(open.service)).toMatchObject({
    result: 'failed',
    reason: expect.stringContaining('content-security-policy'),
  });
  using broken = await serve({ '/assets': () => ({ status: 404, body: '' }), '/': () => ({ headers, body: html }) });
  expect(await checkPage(broken.service)).toMatchObject({
    result: 'failed',
    reason: expect.stringContaining('a-1.js responded with status 404'),
  });
  const none = { status: 404, headers: { 'content-type': 'application/json' }, body: {} };
  using without = await serve({ '/': () => none });
  expect(await checkPage(without.service)).toMatchObject({ result: 'skipped' });
});

test('a line of the table has the path, the outcome and the time', () => {
  const both: Case = { ...image, steps: [...image.steps, { operation: 'convert', to: 'pdf' }] };
  expect(lineOf({ name: both.name, path: pathOf(both) }, { result: 'ok', bytes: 1234 }, 1520)).toBe(
    'image      png → webp → pdf   ok          1.5 s  1,234 bytes',
  );
});
