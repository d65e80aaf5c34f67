import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importUrl } from '../../functions/transfers/import-url.ts';
import type { TransferSettings } from '../../functions/transfers/receive.ts';
import type { KeyLimits } from '../../shared/accounts/caller.ts';
import { twoHalves } from '../support/images.ts';
import { serveRange, startFileServer } from './file-server.ts';
import { failureOf, noise, type OwnBucket, startOwnBucket } from './own-bucket.ts';
import { makeRun, makeSettings } from './run.ts';
import { openToxicLink } from './toxic-link.ts';

let own: OwnBucket;

beforeAll(async () => {
  own = await startOwnBucket();
});
afterAll(() => own[Symbol.asyncDispose]());

const fetchFile = (
  url: string,
  parameters: { filename?: string; headers?: Record<string, string> } = {},
  settings: TransferSettings = makeSettings(),
) => importUrl(makeRun('import/url', { url, ...parameters }), settings);

async function fetchOne(url: string, parameters = {}, settings?: TransferSettings) {
  const { files } = await fetchFile(url, parameters, settings);
  const [file] = files;
  if (!file || files.length !== 1) throw new Error('Expected one file.');
  return { file, content: await own.read(file) };
}

describe('import/url', () => {
  it('stores the file byte for byte and detects its format from its content', async () => {
    const image = await twoHalves(40, 30);
    await using server = await startFileServer((_request, response) => response.end(image));

    const { file, content } = await fetchOne(`${server.url}/photos/holiday.jpg`);

    expect(content.equals(image)).toBe(true);
    expect(file).toMatchObject({ name: 'holiday.jpg', format: 'png', mediaType: 'image/png', size: image.length });
  });

  it('takes an empty file', async () => {
    await using server = await startFileServer((_request, response) => response.end());
    const { file } = await fetchOne(`${server.url}/empty.txt`);
    expect(file).toMatchObject({ name: 'empty.txt', size: 0 });
  });

  it.each([
    "/a'b|c^d{e}`f?X-Amz-Signature=ab%2Fcd%2fef+gh&x='|\"<>^`{}[]\\&y=%zz",
    '/double//slash/./dot/../up/%2e%2e/%41?a=b?c=d&&=',
    '?only=query',
    '/path;v=1,2:3@4$5!6*7(8)~9',
  ])('sends the target %s byte for byte', async (target) => {
    await using server = await startFileServer((_request, response) => response.end('x'));
    await fetchFile(`${server.url}${target}#fragment`);
    expect(server.requests[0]?.target).toBe(target.startsWith('?') ? `/${target}` : target);
  });

  it('encodes what a request line cannot hold and nothing else', async () => {
    await using server = await startFileServer((_request, response) => response.end('x'));
    await fetchFile(`${server.url}/grün weiß/文件?q=%C3%BC ü`);
    expect(server.requests[0]?.target).toBe('/gr%C3%BCn%20wei%C3%9F/%E6%96%87%E4%BB%B6?q=%C3%BC%20%C3%BC');
  });

  it.each([
    ['attachment; filename="plain.bin"', 'plain.bin'],
    ['attachment; filename="x.bin"; filename*=UTF-8\'\'%E6%96%87%E4%BB%B6.bin', '文件.bin'],
    ["attachment; filename*=utf-8'de'%C3%BCbersicht.bin", 'übersicht.bin'],
    ["attachment; filename*=iso-8859-1''f%E9vrier.bin", 'février.bin'],
    [Buffer.from('attachment; filename="Отчёт.bin"').toString('latin1'), 'Отчёт.bin'],
    ['attachment; filename="=?UTF-8?B?4KS54KS/4KSo4KWN4KSm4KWALmJpbg==?="', 'हिन्दी.bin'],
    ['attachment; filename="=?utf-8?Q?r=C3=A9sum=C3=A9_1.bin?="', 'résumé 1.bin'],
    ['attachment; filename="=?UTF-8?B?5pel5pys?= =?UTF-8?B?6KqeLmJpbg==?="', '日本語.bin'],
    ['attachment; filename="f\u00e9vrier.bin"', 'février.bin'],
    ["attachment; filename*=UTF-8''%D8%AA%D9%82%D8%B1%D9%8A%D8%B1.bin", 'تقرير.bin'],
    ["attachment; filename*=UTF-8''%ED%95%9C%EA%B5%AD%EC%96%B4%20%F0%9F%98%80.bin", '한국어 😀.bin'],
    ['attachment; filename="%D7%A9%D7%9C%D7%95%D7%9D.bin"', 'שלום.bin'],
    ['attachment; filename=with spaces.bin', 'with spaces.bin'],
    ['attachment; filename="a\\"b.bin"', 'a_b.bin'],
    ['attachment; filename="../../etc/passwd.bin"', 'passwd.bin'],
    ['attachment; filename="C:\\\\temp\\\\evil.bin"', 'evil.bin'],
    ["attachment; filename*=UTF-8''%E2%80%AEgpj.bin", 'gpj.bin'],
    ["attachment; filename*=UTF-8''a%0D%0Ab.bin", 'ab.bin'],
    ['filename="no-type.bin"', 'no-type.bin'],
    ['attachment', 'path.bin'],
    ['attachment; filename*=nonsense\'\'x; filename="kept.bin"', 'kept.bin'],
  ])('names the file from Content-Disposition %j', async (header, name) => {
    await using server = await startFileServer((_request, response) => {
      response.setHeader('content-disposition', header);
      // With a known length Node re-encodes this one header.
      response.write(Buffer.from([1, 2, 3]));
      response.end();
    });
    const { file } = await fetchOne(`${server.url}/path.bin`);
    expect(file.name).toBe(name);
  });

  it('names the file from the decoded path, then from its media type, unless the user names it', async () => {
    await using server = await startFileServer((_request, response) => {
      response.setHeader('content-type', 'text/csv; charset=utf-8');
      response.end('a,b\n1,2\n');
    });
    const named = await fetchOne(`${server.url}/%E8%A1%A8.csv?x=/other.txt`);
    const typed = await fetchOne(`${server.url}/export`);
    const bare = await fetchOne(`${server.url}/`);
    const requested = await fetchOne(`${server.url}/export`, { filename: 'mine.txt' });
    expect([named, typed, bare, requested].map(({ file }) => file.name)).toEqual([
      '表.csv',
      'export.csv',
      'file.csv',
      'mine.txt',
    ]);
  });

  it('follows redirects of every kind, relative and absolute, with their bytes intact', async () => {
    const locations = ["/two?sig='a'|b", '../three', '', '//HOST/four', 'five?x=y'];
    await using server = await startFileServer((request, response, number) => {
      const location =
        number === 3
          ? `${server.url}/from-absolute?q='|'`
          : locations[number - 1]?.replace('HOST', request.headers.host ?? '');
      if (number > 5) response.end('arrived');
      else response.writeHead([301, 302, 303, 307, 308][number - 1] ?? 302, { location }).end('ignored');
    });
    const { content } = await fetchOne(`${server.url}/one`);
    expect(content.toString()).toBe('arrived');
    expect(server.requests.map(({ target }) => target)).toEqual([
      '/one',
      "/two?sig='a'|b",
      '/three',
      "/from-absolute?q='|'",
      '/four',
      '/five?x=y',
    ]);
  });

  it('sends the headers of the user, and not to another origin', async () => {
    await using other = await startFileServer((_request, response) => response.end('x'));
    await using server = await startFileServer((request, response) => {
      if (request.url === '/a') response.writeHead(302, { location: '/b' }).end();
      else response.writeHead(302, { location: `${other.url}/c` }).end();
    });
    await fetchFile(`${server.url}/a`, { headers: { Authorization: 'Bearer secret', 'X-Api-Key': 'k' } });
    expect(server.requests.map(({ headers }) => [headers.authorization, headers['x-api-key']])).toEqual([
      ['Bearer secret', 'k'],
      ['Bearer secret', 'k'],
    ]);
    expect(other.requests[0]?.headers.authorization).toBeUndefined();
    expect(other.requests[0]?.headers['x-api-key']).toBeUndefined();
  });

  it('gives up on a server that redirects for ever', async () => {
    await using server = await startFileServer((_request, response, number) =>
      response.writeHead(302, { location: `/${number}` }).end(),
    );
    const failure = await failureOf(fetchFile(server.url));
    expect(failure).toEqual({
      errorCode: 'processing_failed',
      msg: `127.0.0.1:${server.port} redirects more than 10 times.`,
    });
    expect(server.requests).toHaveLength(11);
  });

  it('decodes an encoding that it did not ask for', async () => {
    const text = Buffer.from('hello '.repeat(10_000));
    await using server = await startFileServer((request, response) => {
      const encode = request.url === '/br' ? brotliCompressSync : gzipSync;
      response.setHeader('content-encoding', request.url === '/br' ? 'br' : 'gzip');
      response.end(encode(text));
    });
    const gzip = await fetchOne(`${server.url}/gzip`);
    const brotli = await fetchOne(`${server.url}/br`);
    expect(server.requests[0]?.headers['accept-encoding']).toBe('identity');
    expect([gzip, brotli].every(({ content }) => content.equals(text))).toBe(true);
  });

  it('leaves an archive packed that its server mislabels as encoded', async () => {
    const archive = gzipSync('content');
    await using server = await startFileServer((_request, response) =>
      response.setHeader('content-encoding', 'gzip').end(archive),
    );
    const { content } = await fetchOne(`${server.url}/backup.tar.gz`);
    expect(content.equals(archive)).toBe(true);
  });

  it('refuses a compressed bomb, a broken one and an unknown encoding', async () => {
    const bomb = gzipSync(Buffer.alloc(30_000_000));
    await using server = await startFileServer((request, response) => {
      response.setHeader('content-encoding', request.url === '/odd' ? 'x-odd' : 'gzip');
      response.end(
        request.url === '/bomb' ? bomb : request.url === '/cut' ? gzipSync(noise(1000)).subarray(0, 500) : 'text',
      );
    });
    const failures = await Promise.all(
      ['/bomb', '/cut', '/broken', '/odd'].map((path) => failureOf(fetchFile(`${server.url}${path}`))),
    );
    expect(failures.map(({ msg }) => msg)).toEqual([
      expect.stringContaining('expands more than 100-fold'),
      expect.stringContaining('truncated'),
      expect.stringContaining('is not valid gzip'),
      expect.stringContaining('"x-odd"'),
    ]);
  });

  it('stops at the size limit: announced, endless, and decoded', async () => {
    await using server = await startFileServer((request, response) => {
      if (request.url === '/announced') response.writeHead(200, { 'content-length': 2_000_000 }).write('x');
      else if (request.url === '/decoded')
        response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(1_500_000)));
      else {
        const chunk = Buffer.alloc(65_536);
        const more = () => {
          while (response.write(chunk));
        };
        response.on('drain', more);
        more();
      }
    });
    const settings = makeSettings({ maxFileBytes: 1_000_000 });
    const before = await own.keys();
    for (const path of ['/announced', '/endless', '/decoded']) {
      const failure = await failureOf(fetchFile(`${server.url}${path}`, {}, settings));
      expect(failure).toEqual({
        errorCode: 'processing_failed',
        msg: 'The file is larger than 1000000 bytes, the maximum of this service.',
      });
    }
    expect(await own.keys()).toEqual(before);
  });

  it('keeps to the limits of the key that created its task, and stores nothing beyond them', async () => {
    const image = await twoHalves(40, 30);
    await using server = await startFileServer((_request, response) => response.end(image));
    const before = await own.keys();
    const importWith = (limits: KeyLimits) => {
      const run = makeRun('import/url', { url: `${server.url}/photo.jpg` });
      return importUrl({ ...run, task: { ...run.task, limits } }, makeSettings());
    };

    expect(await failureOf(importWith({ maxFileBytes: image.length - 1 }))).toEqual({
      errorCode: 'insufficient_permission',
      msg: `Expected a file of at most ${image.length - 1} bytes, by the limit maxFileBytes of the API key, but received a larger one.`,
    });
    expect(await failureOf(importWith({ formats: ['jpg'] }))).toEqual({
      errorCode: 'insufficient_permission',
      msg: 'Expected one of jpg, by the limit formats of the API key, but received "png".',
    });
    expect(await own.keys()).toEqual(before);
    const { files } = await importWith({ formats: ['png'], maxFileBytes: image.length });
    expect(files).toHaveLength(1);
  });

  it.each([
    [401, 'invalid_credentials'],
    [403, 'insufficient_permission'],
    [404, 'processing_failed'],
    [410, 'processing_failed'],
    [418, 'processing_failed'],
    [204, 'processing_failed'],
    [304, 'processing_failed'],
  ])('says what status %i means and does not try again', async (status, errorCode) => {
    await using server = await startFileServer((_request, response) => response.writeHead(status).end());
    const failure = await failureOf(fetchFile(server.url));
    expect(failure.errorCode).toBe(errorCode);
    expect(failure.msg).toContain(String(status));
    expect(server.requests).toHaveLength(1);
  });

  it.each([429, 500, 502, 503, 504, 408])('retries after status %i', async (status) => {
    await using server = await startFileServer((_request, response, number) => {
      if (number < 3) response.writeHead(status, { 'retry-after': '0' }).end();
      else response.end('content');
    });
    const { content } = await fetchOne(server.url);
    expect(content.toString()).toBe('content');
    expect(server.requests).toHaveLength(3);
  });

  it('gives up on a server that stays broken after the maximum of attempts', async () => {
    await using server = await startFileServer((_request, response) => response.writeHead(503).end());
    const failure = await failureOf(fetchFile(server.url));
    expect(failure).toEqual({
      errorCode: 'processing_failed',
      msg: `127.0.0.1:${server.port} failed (status 503). Gave up after 4 attempts.`,
    });
    expect(server.requests).toHaveLength(4);
  });

  it('does not wait for a server that asks for hours', async () => {
    await using server = await startFileServer((_request, response) =>
      response.writeHead(429, { 'retry-after': '7200' }).end(),
    );
    expect((await failureOf(fetchFile(server.url))).msg).toContain('429');
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['dropped', false],
    ['stalled', true],
  ])('resumes a %s transfer by Range where the server offers it', async (_what, silent) => {
    const file = noise(20_000_000);
    await using server = await startFileServer((request, response) => {
      const { body } = serveRange(file, '"v1"')(request, response);
      response.end(body);
    });
    await using link = await openToxicLink(server.port, { after: 3_000_000, direction: 'down', times: 5, silent });

    const { content } = await fetchOne(`http://127.0.0.1:${link.port}/big.bin`);

    expect(content.equals(file)).toBe(true);
    expect(link.cuts).toBe(5);
    expect(server.requests.map(({ headers }) => headers.range).filter((range) => range !== undefined)).toHaveLength(5);
    expect(server.requests.at(-1)?.headers['if-range']).toBe('"v1"');
  });

  it('starts over when the file changed between the parts', async () => {
    const versions = [noise(6_000_000), noise(6_000_000)];
    await using server = await startFileServer((request, response, number) => {
      const version = number === 1 ? 0 : 1;
      const { body } = serveRange(versions[version] ?? Buffer.alloc(0), `"v${version}"`)(request, response);
      response.end(body);
    });
    await using link = await openToxicLink(server.port, { after: 2_000_000, direction: 'down', times: 1 });
    const { content } = await fetchOne(`http://127.0.0.1:${link.port}/`);
    expect(content.equals(versions[1] ?? Buffer.alloc(0))).toBe(true);
  });

  it('starts over when the server cannot continue, and never stores a short file', async () => {
    const file = noise(6_000_000);
    await using server = await startFileServer((_request, response) =>
      response.writeHead(200, { 'content-length': file.length }).end(file),
    );
    await using link = await openToxicLink(server.port, { after: 2_000_000, direction: 'down', times: 2 });
    const { content } = await fetchOne(`http://127.0.0.1:${link.port}/`);
    expect(content.equals(file)).toBe(true);
  });

  it.each([
    ['shorter than announced', 'HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\nshort'],
    ['cut off within a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n100\r\nshort'],
    ['without its last chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n'],
    ['with two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 9\r\n\r\nshort-one'],
    ['that is not HTTP', '220 smtp.example ESMTP\r\n'],
    ['that is empty', ''],
  ])('fails on a response %s, and stores nothing', async (_what, response) => {
    const server = createTcpServer((socket) => socket.on('error', () => undefined).end(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const before = await own.keys();
    const failure = await failureOf(fetchFile(`http://127.0.0.1:${port}/`));
    server.close();
    expect(failure.errorCode).toBe('processing_failed');
    expect(await own.keys()).toEqual(before);
  });

  it('accepts a chunked response', async () => {
    const file = noise(3_000_000);
    await using server = await startFileServer((_request, response) => {
      for (let offset = 0; offset < file.length; offset += 100_000)
        response.write(file.subarray(offset, offset + 100_000));
      response.end();
    });
    const { content } = await fetchOne(server.url);
    expect(content.equals(file)).toBe(true);
  });

  it('waits for a slow server that keeps sending', async () => {
    const file = noise(20);
    await using server = await startFileServer((_request, response) => {
      let sent = 0;
      const timer = setInterval(() => {
        response.write(file.subarray(sent, ++sent));
        if (sent === file.length) {
          clearInterval(timer);
          response.end();
        }
      }, 20);
    });
    const { content } = await fetchOne(
      server.url,
      {},
      makeSettings({ retryPolicy: { maxAttempts: 1, backoffMs: 1, idleTimeoutMs: 250 } }),
    );
    expect(content.equals(file)).toBe(true);
  });

  it('times out on a body that stalls, headers sent byte by byte and a server that never responds', async () => {
    await using server = await startFileServer((request, response) => {
      if (request.url === '/body') response.writeHead(200, { 'content-length': 100 }).write('x');
      if (request.url === '/headers') {
        response.socket?.write('HTTP/1.1 200 OK\r\n');
        const timer = setInterval(() => response.socket?.write('x-more: 1\r\n'), 20);
        response.socket?.on('close', () => clearInterval(timer));
      }
    });
    const settings = makeSettings({ retryPolicy: { maxAttempts: 2, backoffMs: 1, idleTimeoutMs: 200 } });
    const failures = await Promise.all(
      ['/body', '/headers', '/never'].map((path) => failureOf(fetchFile(`${server.url}${path}`, {}, settings))),
    );
    expect(failures.map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/interrupted|stalled/),
      expect.stringContaining('did not respond in time'),
      expect.stringContaining('did not respond in time'),
    ]);
  });

  it('breaks off when the task is canceled', async () => {
    await using server = await startFileServer((_request, response) => response.writeHead(200).write(noise(100_000)));
    const run = makeRun('import/url', { url: server.url });
    const done = importUrl(run, makeSettings({ retryPolicy: { maxAttempts: 5, backoffMs: 1, idleTimeoutMs: 60_000 } }));
    const ended = done.then(
      () => 'completed',
      () => 'broken off',
    );
    run.abort();
    expect(await ended).toBe('broken off');
  });

  it('says that a port is closed and that a name does not exist', async () => {
    const server = await startFileServer(() => undefined);
    await server[Symbol.asyncDispose]();
    const closed = await failureOf(fetchFile(server.url));
    const outbound = { allow: new Set<string>(), resolve: () => Promise.reject(new Error('NXDOMAIN')) };
    const missing = await failureOf(fetchFile('http://missing.example/', {}, makeSettings({ outbound })));
    expect(closed.msg).toContain('refused the connection');
    expect(missing.msg).toBe('The host "missing.example" was not found. Check its spelling.');
  });

  it('verifies certificates', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lathe-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-keyout',
        key,
        '-out',
        cert,
        '-days',
        '1',
        '-subj',
        '/CN=127.0.0.1',
      ],
      { stdio: 'ignore' },
    );
    let served = 0;
    const server = createTlsServer({ key: await readFile(key), cert: await readFile(cert) }, (_request, response) => {
      served++;
      response.end('secret');
    });
    await rm(folder, { recursive: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const failure = await failureOf(fetchFile(`https://127.0.0.1:${port}/`));
    server.close();
    expect(failure.msg).toMatch(/certificate of 127\.0\.0\.1:\d+ could not be verified/);
    expect(served).toBe(0);
  });
});
