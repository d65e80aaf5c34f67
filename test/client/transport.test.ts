import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Lathe, LatheError } from '../../packages/client/src/index.ts';
import { Responses, waitForJob } from '../../packages/client/src/mcp/common-tools.ts';
import { retryAfterOf } from '../../packages/client/src/retry.ts';
import { serveRange, startFileServer } from '../transfers/file-server.ts';

const retry = { minPauseMs: 1, maxPauseMs: 2 };
const health = { status: 'ok', version: '1', engines: [], websocket: {} };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-client-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Responds in turn, and with the last response from then on. */
function inTurn(...responses: ((response: ServerResponse, request: IncomingMessage) => void)[]) {
  return (request: IncomingMessage, response: ServerResponse, number: number) =>
    responses[Math.min(number, responses.length) - 1]?.(response, request);
}

async function errorOf(promise: Promise<unknown>): Promise<LatheError> {
  const error = await promise.then(() => undefined).catch((thrown: unknown) => thrown);
  if (!(error instanceof LatheError)) throw new Error(`Expected a LatheError but received ${error}.`);
  return error;
}

describe('a request', () => {
  test.each([
    ['429 of the service', 429, { errorCode: 'too_many_requests', msg: 'Slower.' }],
    ['503 of API Gateway', 503, { message: 'Service Unavailable' }],
  ])('is sent again after the time that a %s asks for', async (_name, status, body) => {
    await using server = await startFileServer(
      inTurn(
        (response) => json(response, status, body, { 'retry-after': '1' }),
        (response) => json(response, 200, health),
      ),
    );
    const began = performance.now();
    expect(await new Lathe({ url: server.url, retry }).health()).toEqual(health);
    expect(performance.now() - began).toBeGreaterThan(950);
    expect(server.requests).toHaveLength(2);
  });

  test('for the end of a job is sent again after the time that a wait which is not held asks for', async () => {
    const job = { id: 'a', status: 'processing', endedAt: null, tasks: [] };
    const ended = { ...job, status: 'completed', endedAt: '2026-01-01T00:00:00Z' };
    await using server = await startFileServer(
      inTurn(
        (response) => json(response, 200, job, { 'retry-after': '1' }),
        (response) => json(response, 200, ended),
      ),
    );
    const began = performance.now();
    expect(await new Lathe({ url: server.url, retry }).wait('a')).toEqual(ended);
    expect(performance.now() - began).toBeGreaterThan(950);
    expect(server.requests).toHaveLength(2);
  });

  test('is sent again after its connection was lost, with the same idempotency key', async () => {
    const job = { id: 'a', status: 'created' };
    await using server = await startFileServer(
      inTurn(
        (response) => response.destroy(),
        (response) => json(response, 409, { errorCode: 'conflict', msg: 'In progress.' }, { 'retry-after': '0' }),
        (response) => json(response, 201, job),
      ),
    );
    const lathe = new Lathe({ url: server.url, key: 'secret', retry });
    expect(await lathe.createJob({ tasks: { import: { operation: 'import/upload' } } })).toEqual(job);
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    await lathe.createJob({ tasks: { import: { operation: 'import/upload' } } });
    expect(server.requests.at(-1)?.headers['idempotency-key']).not.toBe(keys[0]);
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer secret');
  });

  test('is sent again after its connection was lost within the response', async () => {
    await using server = await startFileServer(
      inTurn(
        (response) => {
          response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy());
        },
        (response) => json(response, 200, health),
      ),
    );
    expect(await new Lathe({ url: server.url, retry }).health()).toEqual(health);
  });

  test('that is invalid is not sent again, and its error has what the service says', async () => {
    const body = {
      errorCode: 'bad_request',
      msg: 'tasks: Expected one.',
      errors: { tasks: ['Expected one.'] },
      reason: 'invalid_input',
    };
    await using server = await startFileServer((_request, response) => json(response, 400, body));
    const error = await errorOf(new Lathe({ url: server.url, retry }).createJob({ tasks: {} }));
    const { status, errorCode, msg, errors, reason, message } = error;
    expect({ status, errorCode, msg, errors, reason, message }).toEqual({ status: 400, message: body.msg, ...body });
    expect(server.requests).toHaveLength(1);
  });

  test('is not sent again where it would have to wait for longer than it may', async () => {
    const body = { errorCode: 'too_many_requests', msg: 'Slower.' };
    await using server = await startFileServer((_request, response) =>
      json(response, 429, body, { 'retry-after': '60' }),
    );
    const error = await errorOf(new Lathe({ url: server.url, retry: { ...retry, maxRetryAfterMs: 2_000 } }).health());
    expect([error.errorCode, server.requests.length]).toEqual(['too_many_requests', 1]);
  });

  test('gives up after its retries', async () => {
    await using server = await startFileServer((_request, response) => json(response, 500, { message: 'Internal' }));
    const error = await errorOf(new Lathe({ url: server.url, retry: { ...retry, retries: 2 } }).health());
    expect([error.status, error.errorCode, error.msg]).toEqual([500, 'http_500', 'Internal']);
    expect(server.requests).toHaveLength(3);
  });

  test('to a service that is not there says so', async () => {
    const server = await startFileServer(() => undefined);
    await server[Symbol.asyncDispose]();
    const error = await errorOf(new Lathe({ url: server.url, retry: { ...retry, retries: 1 } }).health());
    expect(error.errorCode).toBe('unreachable');
    expect(error.msg).toBe(`${server.url} cannot be reached (connect ECONNREFUSED ${new URL(server.url).host}).`);
  });

  test('without a response in time is sent again, and unreachable in the end', async () => {
    await using server = await startFileServer(() => undefined);
    let attempts = 0;
    const lathe = new Lathe({
      url: server.url,
      timeoutMs: 50,
      retry: { ...retry, retries: 1 },
      fetch: (...request) => {
        attempts += 1;
        return fetch(...request);
      },
    });
    expect((await errorOf(lathe.health())).msg).toContain('No response within 0.05 seconds.');
    expect(attempts).toBe(2);
  });

  test.each([
    ['its response', () => undefined],
    ['a retry', (response: ServerResponse) => json(response, 503, {}, { 'retry-after': '3600' })],
  ])('is aborted while it waits for %s', async (_name, respond) => {
    await using server = await startFileServer((_request, response) => respond(response));
    const abort = new AbortController();
    const running = new Lathe({ url: server.url, retry }).health({ signal: abort.signal });
    const reason = new Error('Enough.');
    const checked = expect(running).rejects.toBe(reason);
    while (server.requests.length === 0) await pause(5);
    abort.abort(reason);
    await checked;
  });

  test('to something other than Lathe says that', async () => {
    await using server = await startFileServer((_request, response) => response.end('<html>'));
    expect((await errorOf(new Lathe({ url: server.url }).health())).errorCode).toBe('invalid_response');
  });
});

test('Retry-After is read as seconds and as a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const read = (value: string) => retryAfterOf(new Headers({ 'retry-after': value }), now);
  expect(read('7')).toBe(7_000);
  expect(read('Thu, 01 Jan 2026 00:00:05 GMT')).toBe(5_000);
  expect(read('Thu, 01 Jan 2025 00:00:00 GMT')).toBe(0);
  expect(read('soon')).toBeUndefined();
});

describe('a wait', () => {
  const job = (endedAt: string | null) => ({ id: 'a', status: 'completed', endedAt, tasks: [] });

  test('continues until the job has ended, and looks at the job itself where too many wait', async () => {
    await using server = await startFileServer(
      inTurn(
        (response) => json(response, 200, job(null)),
        (response) => json(response, 503, { message: 'Service Unavailable' }, { 'retry-after': '0' }),
        (response) => json(response, 200, job(null)),
        (response) => json(response, 200, job('2026-01-01T00:00:00Z')),
      ),
    );
    expect(await new Lathe({ url: server.url, retry }).wait('a')).toEqual(job('2026-01-01T00:00:00Z'));
    const job1 = '/v1/process/jobs/a';
    expect(server.requests.map(({ target }) => target)).toEqual([`${job1}/wait`, `${job1}/wait`, job1, `${job1}/wait`]);
  });
});

describe('a download', () => {
  const content = Buffer.from(Array.from({ length: 300_000 }, (_value, index) => index % 251));
  const file = (url: string) => ({
    url,
    filename: 'a.bin',
    size: content.length,
    format: 'bin',
    media_type: 'application/x',
  });

  /** Serves ranges, and cuts the first connections after some bytes. */
  function cutting(times: number) {
    return (request: IncomingMessage, response: ServerResponse, number: number) => {
      const range = request.headers.range;
      const { body } = serveRange(content, 'tag')(
        Object.assign(request, { headers: { ...request.headers, ...(range ? { 'if-range': 'tag' } : {}) } }),
        response,
      );
      if (number > times) response.end(body);
      else response.write(body.subarray(0, 100_000), () => response.destroy());
    };
  }

  test('goes on where it was when its connection is lost, and reports its progress', async () => {
    await using server = await startFileServer(cutting(2));
    const path = join(folder, 'resumed.bin');
    const seen: (number | undefined)[][] = [];
    await new Lathe({ retry }).download(file(server.url), path, {
      onProgress: ({ loaded, total }) => seen.push([loaded, total]),
    });
    expect((await readFile(path)).equals(content)).toBe(true);
    expect(seen.at(-1)).toEqual([content.length, content.length]);
    expect(server.requests).toHaveLength(3);
    expect(server.requests[1]?.headers.range).toMatch(/^bytes=\d+-$/);
  });

  test('that fails leaves neither the file nor a part of it', async () => {
    await using server = await startFileServer((_request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('part', () => response.destroy());
    });
    const before = await readdir(folder);
    await expect(
      new Lathe({ retry: { ...retry, retries: 0 } }).download(server.url, join(folder, 'never.bin')),
    ).rejects.toThrow('failed');
    expect(await readdir(folder)).toEqual(before);
  });

  test('replaces a file only where that is wanted', async () => {
    await using server = await startFileServer((_request, response) => response.end('new'));
    const path = join(folder, 'mine.txt');
    await writeFile(path, 'old');
    const lathe = new Lathe({ retry });
    await expect(lathe.download(server.url, path, { overwrite: false })).rejects.toThrow('EEXIST');
    expect(await readFile(path, 'utf8')).toBe('old');
    await lathe.download(server.url, path);
    expect(await readFile(path, 'utf8')).toBe('new');
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('writes to streams of both kinds', async () => {
    await using server = await startFileServer((_request, response) => response.end('text'));
    const lathe = new Lathe({ retry });
    const parts: string[] = [];
    await lathe.download(
      server.url,
      new WritableStream({ write: (chunk) => void parts.push(Buffer.from(chunk).toString()) }),
    );
    expect(parts.join('')).toBe('text');
    const { PassThrough } = await import('node:stream');
    const stream = new PassThrough();
    await lathe.download(server.url, stream);
    expect(stream.read().toString()).toBe('text');
    expect(await (await lathe.blob(server.url)).text()).toBe('text');
  });
});

test('a tool of agents that has waited long enough for a job returns it as it is', async () => {
  const job = { id: 'a', status: 'processing', endedAt: null, tasks: [] };
  await using server = await startFileServer((request, response) => {
    if (request.url === '/v1/process/jobs/a') json(response, 200, job);
  });
  const context = {
    lathe: new Lathe({ url: server.url, retry }),
    responses: new Responses(() => ({})),
    ended: new AbortController().signal,
    waitMs: () => 200,
  };
  expect(await waitForJob(context, 'a', context.ended)).toEqual(job);
  expect(server.requests.map(({ target }) => target)).toEqual(['/v1/process/jobs/a/wait', '/v1/process/jobs/a']);
});
