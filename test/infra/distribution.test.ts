import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { currentTemplate } from '../../infra/build/template-cache.ts';
import type { ForwardedRequest } from '../../packages/local-aws/src/api-gateway/http/event.ts';
import { createDistribution } from '../../packages/local-aws/src/cloudfront/distribution.ts';
import type { LocalDistribution } from '../../packages/local-aws/src/template/model.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';
import { distributionHeader, pictureAccept, picturePathHeader } from '../../shared/net/distribution.ts';

const folder = mkdtempSync(join(tmpdir(), 'lathe-test-'));
const files = ['index.html', 'favicon.svg', 'assets/main-1.js', 'secret.txt'];
const reports: string[] = [];
let distribution: LocalDistribution;
let server: Server;
let host: string;
let forwarded: ForwardedRequest | undefined;

beforeAll(async () => {
  mkdirSync(join(folder, 'assets'));
  for (const name of files) writeFileSync(join(folder, name), name);
  server = createServer({ maxHeaderSize: 32_768 }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  host = `localhost:${(server.address() as AddressInfo).port}`;
  const url = `http://${host}`;
  const { distributions } = readTemplate({
    template: await currentTemplate(),
    origins: { api: url, gate: 'http://127.0.0.1:1', sockets: 'ws://localhost:2' },
    parameters: {},
  });
  const [found] = distributions;
  if (!found) throw new Error('The template has no distribution.');
  distribution = found;
  serve(distribution);
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  forwarded = undefined;
});

function serve(served: LocalDistribution): void {
  const { handle } = createDistribution(served, {
    url: `http://${host}`,
    api: {
      async handle(_request, response, given) {
        forwarded = given;
        response.end('the API');
      },
    },
    build: async () => ({ folder, files: new Set(files) }),
    report: (line) => reports.push(line),
  });
  server.removeAllListeners('request').on('request', handle);
}

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

async function send(path: string, { method = 'GET', headers = {}, body }: Sent = {}) {
  const sent = request({ host: '127.0.0.1', port: host.split(':')[1], path, method, headers: { host, ...headers } });
  sent.end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode, headers: response.headers, body: text };
}

const id = 'a'.repeat(24);

describe('the page', () => {
  test.for(['/', '/jobs', `/jobs/${id}`, `/webhooks/${id}?tab=1`])('has its document at %s', async (path) => {
    const { status, headers, body } = await send(path);
    expect({ status, body }).toEqual({ status: 200, body: 'index.html' });
    expect(headers).toMatchObject({
      'content-type': 'text/html',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
    });
    const policy = headers['content-security-policy'];
    expect(policy?.toString().split('; ')).toContain("connect-src 'self' http://127.0.0.1:1 ws://localhost:2");
  });

  test('has its files next to it, which browsers keep indefinitely', async () => {
    expect(await send('/assets/main-1.js')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/javascript', 'cache-control': 'public, max-age=31536000, immutable' },
    });
    expect(await send('/favicon.svg')).toMatchObject({ status: 200, headers: { 'content-type': 'image/svg+xml' } });
  });

  test.for(['/assets/none.js', '/assets/../secret.txt', '/assets/', '/assets/%2e%2e/secret.txt'])(
    'has no other file, such as %s',
    async (path) => {
      expect(await send(path)).toMatchObject({ status: 404, headers: { 'content-type': 'application/xml' } });
    },
  );

  test.for([`/jobs/${id}a`, '/jobs/x', '/jobs/', '/jobs/*', `/webhooks/${id}/x`])(
    'has nothing at %s, and responds with a page to browsers, otherwise as the API does',
    async (path) => {
      const page = await send(path, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
      expect(page).toMatchObject({ status: 404, headers: { 'content-type': 'text/html; charset=utf-8' } });
      expect(page.body).toContain('<h1>Page not found</h1>');
      const { status, headers, body } = await send(path);
      expect({ status, type: headers['content-type'] }).toEqual({ status: 404, type: 'application/json' });
      expect(JSON.parse(body)).toEqual({ errorCode: 'not_found', msg: `There is no ${path}.` });
      expect(forwarded).toBeUndefined();
    },
  );

  test('takes GET and HEAD only', async () => {
    expect(await send('/', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    expect(await send('/jobs', { method: 'POST' })).toMatchObject({ status: 403 });
  });

  test('fails with its function', async () => {
    const behaviors = distribution.behaviors.map((behavior) => ({
      ...behavior,
      code: 'function handler() { return 1; }',
    }));
    serve({ ...distribution, behaviors });
    expect(await send('/')).toMatchObject({ status: 503 });
    expect(reports.at(-1)).toMatch(/^distribution: /);
    serve(distribution);
  });
});

test('the functions are ECMAScript 5, all of which CloudFront has', () => {
  const codes = new Set(distribution.behaviors.flatMap(({ code }) => code ?? []));
  expect(codes.size).toBe(3);
  for (const code of codes)
    expect(transformSync(code, { target: 'es5' }).code).toBe(transformSync(code, { target: 'esnext' }).code);
});

describe('the API', () => {
  test('has every other path, and sees a server of CloudFront with the address of its client', async () => {
    const headers = { [distributionHeader]: 'forged', 'X-Forwarded-For': '203.0.113.9', authorization: 'Bearer a' };
    expect(await send('/index.html', { method: 'POST', headers })).toMatchObject({ status: 200, body: 'the API' });
    const { address = '', rawHeaders = [] } = forwarded ?? {};
    expect(address).not.toBe('127.0.0.1');
    const all = Object.fromEntries(rawHeaders.flatMap((name, at) => (at % 2 ? [] : [[name, rawHeaders[at + 1]]])));
    const { origin } = distribution.behaviors.at(-1) ?? {};
    expect(all).toMatchObject({
      host: origin?.kind === 'api' ? origin.host : '',
      'x-forwarded-for': '203.0.113.9, 127.0.0.1',
      authorization: 'Bearer a',
    });
    expect(all[distributionHeader]).not.toBe('forged');
    expect(Object.keys(all)).not.toContain('connection');
    expect(Object.keys(all).filter((name) => name.toLowerCase() === distributionHeader)).toHaveLength(1);
  });

  test.for<[string, string, Sent, number]>([
    ['a body of a GET', '/v1/process/jobs', { headers: { 'content-length': '2' }, body: '{}' }, 403],
    ['a method that CloudFront does not know', '/v1/process/jobs', { method: 'TRACE' }, 403],
    ['a URL of more than 8,192 bytes', `/v1/process/jobs?tag=${'x'.repeat(8_192)}`, {}, 413],
    ['headers of more than 20,480 bytes', '/v1/process/jobs', { headers: { 'x-long': 'x'.repeat(20_480) } }, 413],
  ])('is not given %s', async ([, path, sent, status]) => {
    expect(await send(path, sent)).toMatchObject({ status });
    expect(forwarded).toBeUndefined();
  });
});

describe('instant requests', () => {
  const post = (bytes: number, type: string): Sent => ({
    method: 'POST',
    headers: { 'content-length': String(bytes), 'content-type': type },
    body: 'x'.repeat(bytes),
  });

  test.for([
    [4_700_000, 'multipart/form-data; boundary=x'],
    [5_900_000, 'application/json'],
  ] as const)('of %i bytes of %s reach the API', async ([bytes, type]) => {
    expect(await send('/v1/instant/convert', post(bytes, type))).toMatchObject({ body: 'the API' });
  });

  test('that do not fit into an event are refused with what to do', async () => {
    const { status, headers, body } = await send('/v1/instant/convert', post(4_700_001, 'image/jpeg'));
    expect({ status, connection: headers.connection }).toEqual({ status: 413, connection: 'close' });
    expect(JSON.parse(body)).toEqual({
      errorCode: 'payload_too_large',
      msg: 'The request has 4700001 bytes; the files of an instant request have at most 4400000. Send a larger file by url, or upload it with import/upload and send the id of that task as input.',
    });
    expect(forwarded).toBeUndefined();
  });
});

describe('images by URL', () => {
  const forwardedHeader = (name: string) => {
    const { rawHeaders = [] } = forwarded ?? {};
    return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  };

  test.for(['/i/1/s/w:1/plain/http%3A%2F%2Fa%2Fb', '/i/1/s/w:1/plain/http://a/b%20c@webp?x=1'])(
    'keep the path %s, which API Gateway decodes',
    async (path) => {
      await send(path);
      expect(forwardedHeader(picturePathHeader)).toEqual([path.split('?')[0]]);
      expect(forwarded?.url).toBe(path);
    },
  );

  test('have no header for a path that decoding does not change, not even one of the client', async () => {
    await send('/i/1/s/w:1/aHR0', { headers: { [picturePathHeader]: '/i/1/s/w:2/aHR0' } });
    expect(forwardedHeader(picturePathHeader)).toEqual([]);
  });

  test.for(['image/avif,image/webp,*/*;q=0.8', 'text/html,image/webp', '*/*', 'image/apng', ''])(
    'reduce the Accept header %j as the API does',
    async (accept) => {
      await send('/i/1/s/w:1/aHR0', { headers: { accept } });
      expect(forwardedHeader('accept')).toEqual([pictureAccept(accept)]);
    },
  );

  test('take GET and HEAD only', async () => {
    expect(await send('/i/1/s/w:1/aHR0', { method: 'POST' })).toMatchObject({ status: 403 });
    expect(forwarded).toBeUndefined();
  });
});
