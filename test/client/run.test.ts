import type { IncomingMessage, ServerResponse } from 'node:http';
import { json as bodyOf } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Lathe } from '../../packages/client/src/index.ts';
import { type FileServer, startFileServer } from '../transfers/file-server.ts';

const retry = { minPauseMs: 1, maxPauseMs: 2 };
const file = () => new Blob(['text']);
const link = {
  url: 'http://localhost/a.pdf',
  filename: 'a.pdf',
  size: 1,
  format: 'pdf',
  media_type: 'application/pdf',
};
const endedAt = '2026-01-01T00:00:00Z';
const task = { name: 'export', operation: 'export/url', status: 'completed', endedAt, result: { files: [link] } };
const job = { id: 'a', status: 'completed', endedAt, tasks: [task], result: {} };
const running = {
  id: 'a',
  status: 'processing',
  endedAt: null,
  tasks: [{ ...task, id: 'b', endedAt: null }],
  result: {},
};

type Respond = (response: ServerResponse, request: IncomingMessage, number: number) => void;

const send =
  (status: number, body: unknown, headers: Record<string, string> = {}): Respond =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const pdf: Respond = (response) =>
  response
    .writeHead(200, { 'content-type': 'application/pdf', 'content-disposition': 'attachment; filename="a.pdf"' })
    .end('%PDF-');
const never: Respond = () => undefined;

/** Responds to each request by its path. */
function service(responses: Record<string, Respond>): Promise<FileServer> {
  const numbers = new Map<string, number>();
  return startFileServer((request, response) => {
    const path = `${request.method} ${request.url}`;
    const number = (numbers.get(path) ?? 0) + 1;
    numbers.set(path, number);
    (responses[path] ?? send(404, { errorCode: 'not_found', msg: `Unexpected ${path}.` }))(response, request, number);
  });
}

const convert = 'POST /v1/instant/convert';
const create = 'POST /v1/process/jobs';
const targetsOf = ({ requests }: FileServer) => requests.map(({ target }) => target);
const instantThenJob = ['/v1/instant/convert', '/v1/process/jobs'];

describe('an instant conversion', () => {
  test('is one request', async () => {
    await using server = await service({ [convert]: pdf });
    const { files, job: made } = await new Lathe({ url: server.url, retry }).convert(file(), { to: 'pdf' });
    expect([made, files[0]?.filename, await files[0]?.content?.text()]).toEqual([undefined, 'a.pdf', '%PDF-']);
    expect(files[0]?.url).toBe(files[0]?.url);
    expect(targetsOf(server)).toEqual(['/v1/instant/convert']);
    expect(server.requests[0]?.headers.prefer).toBe('wait=25');
  });

  test.each([
    ['image/webp', 'image/webp'],
    ['text/html', 'application/octet-stream'],
  ])('of the type %s has a link that a page opens as %s', async (type, opened) => {
    const headers = {
      'content-type': type,
      'content-disposition': 'attachment; filename="_.x"; filename*=UTF-8\'\'%C3%A4.x',
    };
    await using server = await service({ [convert]: (response) => response.writeHead(200, headers).end('<p>') });
    const { files } = await new Lathe({ url: server.url, retry }).convert(file(), { to: 'x' });
    expect(files).toMatchObject([{ filename: 'ä.x', format: 'x', media_type: type, size: 3 }]);
    expect((await fetch(files[0]?.url ?? '')).headers.get('content-type')).toBe(opened);
  });

  test('is repeated if its connection is lost, because nothing is stored', async () => {
    await using server = await service({
      [convert]: (response, request, number) => (number === 1 ? response.destroy() : pdf(response, request, number)),
    });
    const { files } = await new Lathe({ url: server.url, retry }).convert(file(), { to: 'pdf' });
    expect(files).toHaveLength(1);
    expect(targetsOf(server)).toEqual(['/v1/instant/convert', '/v1/instant/convert']);
  });

  test('takes no longer than the client waits for a response', async () => {
    await using server = await service({ [convert]: pdf });
    await new Lathe({ url: server.url, retry, timeoutMs: 12_000 }).convert(file(), { to: 'pdf' });
    expect(server.requests[0]?.headers.prefer).toBe('wait=10');
  });

  test('is redirected to a large result without the key, and keeps its warnings', async () => {
    const warnings = ['The font was replaced.'];
    await using server = await service({
      [convert]: (response) =>
        response.writeHead(303, { location: `${server.url}/large`, 'lathe-warnings': JSON.stringify(warnings) }).end(),
      'GET /large': pdf,
    });
    const result = await new Lathe({ url: server.url, key: 'secret', retry }).convert(file(), { to: 'pdf' });
    expect([result.files[0]?.filename, result.warnings]).toEqual(['a.pdf', warnings]);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret', undefined]);
  });

  test.each([404, 405, 413, 500, 502, 503, 504])('becomes a job at once after a %d', async (status) => {
    await using server = await service({
      [convert]: send(status, { errorCode: 'any', msg: 'Any.' }, { 'retry-after': '3' }),
      [create]: send(201, job),
    });
    const { files, job: made } = await new Lathe({ url: server.url, retry }).convert(file(), { to: 'pdf' });
    expect([made?.id, files]).toEqual(['a', [link]]);
    expect(targetsOf(server)).toEqual(instantThenJob);
  });

  test.each([
    ['0', 3],
    ['60', 1],
  ])('becomes a job if a 429 asks for %s seconds, after %d requests', async (seconds, count) => {
    const body = { errorCode: 'too_many_requests', msg: 'Slower.' };
    await using server = await service({
      [convert]: send(429, body, { 'retry-after': seconds }),
      [create]: send(201, job),
    });
    const { files } = await new Lathe({ url: server.url, retry }).convert(file(), { to: 'pdf' });
    expect(files).toEqual([link]);
    expect(targetsOf(server)).toEqual([...Array(count).fill('/v1/instant/convert'), '/v1/process/jobs']);
  });

  test.each([400, 401, 403, 409, 422])('fails with what a %d says', async (status) => {
    await using server = await service({ [convert]: send(status, { errorCode: 'any', msg: 'No.' }) });
    const failed = new Lathe({ url: server.url, retry }).convert(file(), { to: 'pdf' });
    await expect(failed).rejects.toMatchObject({ status, msg: 'No.' });
    expect(targetsOf(server)).toEqual(['/v1/instant/convert']);
  });

  test('goes on with the job that the service has made of it, and with no other', async () => {
    await using server = await service({
      [convert]: send(202, running),
      'GET /v1/process/jobs/a/wait': (response, request, number) =>
        send(200, number === 1 ? running : job)(response, request, number),
    });
    const { files, job: made } = await new Lathe({ url: server.url, retry }).convert(file(), { to: 'pdf' });
    expect([made?.id, files]).toEqual(['a', [link]]);
    const wait = '/v1/process/jobs/a/wait';
    expect(targetsOf(server)).toEqual(['/v1/instant/convert', wait, wait]);

    await using lost = await service({ [convert]: send(202, running) });
    const failed = new Lathe({ url: lost.url, retry }).convert(file(), { to: 'pdf' });
    await expect(failed).rejects.toMatchObject({ status: 404 });
    expect(targetsOf(lost)).not.toContain('/v1/process/jobs');
  });

  test('is aborted, and so is the job that it has become', async () => {
    const reason = new Error('Enough.');
    for (const [responses, expected] of [
      [{ [convert]: never }, ['/v1/instant/convert']],
      [
        {
          [convert]: send(202, running),
          'GET /v1/process/jobs/a/wait': never,
          'GET /v1/process/jobs/a': send(200, running),
          'POST /v1/process/tasks/b/cancel': send(200, {}),
        },
        ['/v1/instant/convert', '/v1/process/jobs/a/wait', '/v1/process/jobs/a', '/v1/process/tasks/b/cancel'],
      ],
    ] as const) {
      await using server = await service(responses);
      const abort = new AbortController();
      const converting = new Lathe({ url: server.url, retry }).convert(file(), { to: 'pdf', signal: abort.signal });
      const checked = expect(converting).rejects.toBe(reason);
      while (server.requests.length < Math.min(2, expected.length)) await pause(5);
      abort.abort(reason);
      await checked;
      expect(targetsOf(server)).toEqual(expected);
    }
  });
});

describe('a job that is waited for', () => {
  test.each([
    ['a small file', file],
    ['a URL', () => 'https://example.com/a.docx'],
  ])('is one request for %s', async (_name, input) => {
    await using server = await service({ [create]: send(201, job) });
    const { files } = await new Lathe({ url: server.url, retry }).convert(input(), { to: 'pdf', instant: false });
    expect(files).toEqual([link]);
    expect(targetsOf(server)).toEqual(['/v1/process/jobs']);
    expect(server.requests[0]?.headers.prefer).toBe('wait=25');
  });

  test('is waited for again if it has not ended, and keeps the warnings of its creation', async () => {
    await using server = await service({
      [create]: send(201, { ...running, warnings: ['Unknown field.'] }, { 'retry-after': '1' }),
      'GET /v1/process/jobs/a/wait': send(200, job),
    });
    const lathe = new Lathe({ url: server.url, retry });
    const { files, warnings } = await lathe.convert('https://example.com/a', { to: 'pdf' });
    expect([files, warnings]).toEqual([[link], ['Unknown field.']]);
    expect(targetsOf(server)).toEqual(['/v1/process/jobs', '/v1/process/jobs/a/wait']);
  });

  test('throws if it has failed', async () => {
    await using server = await service({
      [create]: send(201, { ...job, status: 'failed', result: { errorCode: 'task_failed', msg: 'It failed.' } }),
    });
    const failed = new Lathe({ url: server.url, retry }).convert('https://example.com/a', { to: 'pdf' });
    await expect(failed).rejects.toMatchObject({ name: 'JobFailedError', msg: 'It failed.' });
    expect(server.requests).toHaveLength(1);
  });

  test('is found by its key and canceled if it is aborted while its creation is held', async () => {
    const bodies: unknown[] = [];
    await using server = await service({
      [create]: async (response, request, number) => {
        bodies.push(await bodyOf(request));
        if (number > 1) send(201, running)(response, request, number);
      },
      'GET /v1/process/jobs/a': send(200, running),
      'POST /v1/process/tasks/b/cancel': send(200, {}),
    });
    const abort = new AbortController();
    const reason = new Error('Enough.');
    const lathe = new Lathe({ url: server.url, retry });
    const checked = expect(lathe.convert('https://example.com/a', { to: 'pdf', signal: abort.signal })).rejects.toBe(
      reason,
    );
    while (bodies.length === 0) await pause(5);
    abort.abort(reason);
    await checked;
    const [first, second] = server.requests;
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect([first?.headers.prefer, second?.headers.prefer]).toEqual(['wait=25', undefined]);
    expect(bodies[1]).toEqual(bodies[0]);
    expect(targetsOf(server).at(-1)).toBe('/v1/process/tasks/b/cancel');
  });

  test('is created without waiting if a caller asks for its id, or a stream has to be uploaded', async () => {
    const stream = () => new Blob(['text']).stream();
    const form = { url: '', parameters: {} };
    const open = { ...running, tasks: [{ ...task, name: 'import', operation: 'import/upload', result: { form } }] };
    for (const [input, options, created] of [
      ['https://example.com/a', { onJob: () => undefined }, running],
      [stream(), {}, open],
    ] as const) {
      await using server = await service({
        [create]: send(201, created),
        'GET /v1/process/jobs/a/wait': send(200, job),
        'POST /upload': send(204, undefined),
      });
      form.url = `${server.url}/upload`;
      await new Lathe({ url: server.url, retry }).convert(input, { to: 'pdf', ...options });
      expect(server.requests[0]).toMatchObject({ target: '/v1/process/jobs' });
      expect(server.requests[0]?.headers.prefer).toBeUndefined();
    }
  });
});
