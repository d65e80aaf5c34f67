import { execFile } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engine } from '../../../functions/engines/pdf/run.ts';
import { TamperedError } from '../../../functions/engines/runtime/checks.ts';
import { Sandbox } from '../../../functions/engines/runtime/sandbox/sandbox.ts';
import { requestTimestamp, timestampQuery } from '../../../functions/engines/runtime/timestamp-request.ts';
import { quietContext, runSandboxed } from '../../support/sandboxed.ts';
import { issue, makeAuthority, pemOf, type Signer } from './certificates.ts';
import { byPdfLib, folderOfFile, only, runPdf, workOf } from './harness.ts';

const run = promisify(execFile);
const place = folderOfFile();
const never = new AbortController().signal;
let input: string;
let authority: Signer;
let pem: string;
let server: Server;
/** How the server responds to the path of a request. */
const responses: Record<string, { status?: number; headers?: Record<string, string>; body: Buffer }> = {};

beforeAll(async () => {
  authority = await makeAuthority(place.path);
  const tsa = await issue(authority, place.path, {
    name: 'Clock',
    algorithm: 'ec:P-256',
    extensions: ['keyUsage=critical,digitalSignature', 'extendedKeyUsage=critical,timeStamping'],
  });
  pem = await pemOf(await issue(authority, place.path, { name: 'Ada', algorithm: 'ec:P-256' }), authority);
  input = await byPdfLib(place.at('input.pdf'), (document) => void document.addPage().drawText('Contract'));
  await writeFile(
    place.at('tsa.cnf'),
    [
      '[tsa]',
      'default_tsa = own',
      '[own]',
      `serial = ${place.at('serial')}`,
      `signer_cert = ${tsa.certificate}`,
      `signer_key = ${tsa.key}`,
      'signer_digest = sha256',
      'default_policy = 1.2.3.4',
      'digests = sha256, sha384, sha512',
    ].join('\n'),
  );
  server = createServer(async (request, response) => {
    const query = Buffer.concat(await request.toArray());
    const known = responses[request.url ?? ''];
    response.writeHead(known?.status ?? 200, known?.headers).end(known?.body ?? (await reply(query)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}, 60_000);
afterAll(() => server.close());

/** The response of the authority, by OpenSSL. */
async function reply(query: Buffer): Promise<Buffer> {
  const [from, to] = [place.at('query.tsq'), place.at('reply.tsr')];
  await writeFile(from, query);
  await run('openssl', ['ts', '-reply', '-config', place.at('tsa.cnf'), '-queryfile', from, '-out', to]);
  return readFile(to);
}

function urlOf(path: string): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}${path}`;
}

const allow = new Set(['127.0.0.1']);
const digest = Buffer.alloc(32, 7);
const ask = (url: string) => requestTimestamp(url, digest, { signal: never, allow });

describe('time stamps', () => {
  it.each(['sha256', 'sha512'])('make a signature by %s PAdES B-T', async (name) => {
    const work = await workOf('pdf/sign', input, {
      options: { certificate: pem, timestamp: urlOf('/'), digest: name },
    });
    const timestamp = (given: Uint8Array) => requestTimestamp(urlOf('/'), given, { signal: never, allow });
    const path = place.at(`${name}.pdf`);
    await copyFile(only(await engine.run(work, { ...quietContext(), timestamp })), path);

    const { stdout } = await run('pdfsig', ['-nocert', path]);
    expect(stdout).toContain('Signature is Valid.');
    const verdict = await runPdf('pdf/verify', path, { others: { trust: [authority.certificate] } });
    const { signatures } = JSON.parse(await readFile(only(verdict), 'utf8'));
    expect(signatures).toMatchObject([
      { verdict: 'valid', timestamp: { trusted: true, authority: { name: 'Clock' } } },
    ]);
    expect(Math.abs(Date.parse(signatures[0].timestamp.time) - Date.now())).toBeLessThan(60_000);
  });

  it('are asked for outside of the sandbox', { timeout: 60_000 }, async () => {
    const module = new URL('../../../functions/engines/pdf/run.ts', import.meta.url);
    const sandbox = new Sandbox({ module, memoryBytes: 2 ** 31, network: false });
    try {
      const { folder: _, ...work } = await workOf('pdf/sign', input, {
        options: { certificate: pem, timestamp: urlOf('/') },
      });
      const asked: number[] = [];
      const timestamp = (given: Uint8Array) => {
        asked.push(given.length);
        return requestTimestamp(urlOf('/'), given, { signal: never, allow });
      };
      const result = await runSandboxed(sandbox, work, { ...quietContext(), timestamp });
      expect(result.outputs).toHaveLength(1);
      expect(asked).toEqual([32]);

      await expect(
        runSandboxed(sandbox, work, {
          ...quietContext(),
          timestamp: () => Promise.reject(new TamperedError('Too many.')),
        }),
      ).rejects.toThrow(TamperedError);
    } finally {
      sandbox.stop();
    }
  });

  it('are refused if the authority responds with something else', async () => {
    responses['/redirect'] = { status: 302, headers: { location: urlOf('/') }, body: Buffer.alloc(0) };
    responses['/large'] = { body: Buffer.alloc(100_000) };
    responses['/html'] = { body: Buffer.from('<html>') };
    responses['/other'] = { body: await reply(timestampQuery(Buffer.alloc(32, 9))) };
    await expect(ask(urlOf('/redirect'))).rejects.toThrow('It responded with status 302.');
    await expect(ask(urlOf('/large'))).rejects.toThrow('larger than');
    for (const [path, message] of [
      ['/html', 'did not give a time stamp'],
      ['/other', 'could not be verified'],
    ] as const) {
      const work = await workOf('pdf/sign', input, { options: { certificate: pem, timestamp: urlOf(path) } });
      const timestamp = () => ask(urlOf(path));
      await expect(engine.run(work, { ...quietContext(), timestamp })).rejects.toThrow(message);
    }
  });

  it.each([
    'http://127.0.0.1:1/',
    'http://localhost/',
    'http://[::1]/',
    'http://169.254.169.254/latest/',
    'http://0x7f.1/',
    'http://user:secret@example.com/',
    'ftp://example.com/',
  ])('are not asked for at %s', async (url) => {
    await expect(requestTimestamp(url, digest, { signal: never, allow: new Set() })).rejects.toThrow(
      'The time stamp authority cannot be used.',
    );
  });

  it('are not asked for at names of private addresses', async () => {
    const resolve = async () => [{ address: '10.0.0.1', family: 4 }];
    await expect(
      requestTimestamp('http://tsa.example/', digest, { signal: never, allow: new Set(), resolve }),
    ).rejects.toThrow('is not a public address');
  });

  it('are of digests only', () => {
    for (const length of [0, 20, 31, 33, 65]) expect(() => timestampQuery(Buffer.alloc(length))).toThrow(TamperedError);
  });
});
