import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importBlobstore } from '../../functions/transfers/blobstore.ts';
import { importUrl } from '../../functions/transfers/import-url.ts';
import { importObjstoreA } from '../../functions/transfers/objstore-a.ts';
import { importSftp } from '../../functions/transfers/sftp.ts';
import { type FileServer, startFileServer } from './file-server.ts';
import { failureOf, type OwnBucket, startOwnBucket } from './own-bucket.ts';
import { makeRun, makeSettings } from './run.ts';

let own: OwnBucket;
/** Stands for everything that must not be reached. */
let canary: FileServer;

beforeAll(async () => {
  own = await startOwnBucket();
  canary = await startFileServer((_request, response) => response.end('secret'));
});
afterAll(async () => {
  await canary[Symbol.asyncDispose]();
  await own[Symbol.asyncDispose]();
});

/** Spellings of addresses that no user may reach; PORT is the canary's. */
const forbidden = [
  // Loopback.
  'http://127.0.0.1:PORT/',
  'http://localhost:PORT/',
  'http://LOCALHOST:PORT/',
  'http://localhost.:PORT/',
  'http://sub.localhost:PORT/',
  'http://127.0.0.1.:PORT/',
  'http://127.1:PORT/',
  'http://127.0.1:PORT/',
  'http://127.255.255.254:PORT/',
  'http://2130706433:PORT/',
  'http://0x7f000001:PORT/',
  'http://0x7f.0.0.1:PORT/',
  'http://0x7f.1:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://017700000001:PORT/',
  'http://00000177.0.0.0x1:PORT/',
  'http://%31%32%37.0.0.1:PORT/',
  'http://１２７.０.０.１:PORT/',
  'http://127。0。0。1:PORT/',
  'http://①②⑦.⓪.⓪.①:PORT/',
  'http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/',
  'http://[::1]:PORT/',
  'http://[0:0:0:0:0:0:0:1]:PORT/',
  'http://[0000:0000:0000:0000:0000:0000:0000:0001]:PORT/',
  // Unspecified.
  'http://0.0.0.0:PORT/',
  'http://0:PORT/',
  'http://0x0:PORT/',
  'http://[::]:PORT/',
  'http://0.0.0.1:PORT/',
  // IPv4 inside IPv6.
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::ffff:7f00:1]:PORT/',
  'http://[0:0:0:0:0:ffff:7f00:0001]:PORT/',
  'http://[::127.0.0.1]:PORT/',
  'http://[64:ff9b::127.0.0.1]:PORT/',
  'http://[64:ff9b::7f00:1]:PORT/',
  'http://[64:ff9b:1::a9fe:a9fe]:PORT/',
  'http://[2002:7f00:1::]:PORT/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[2001:0:7f00:1::]:PORT/',
  'http://[2001:0000:4136:e378:8000:63bf:80ff:fffe]/',
  'http://[2a00:1450::5efe:127.0.0.1]:PORT/',
  'http://[2a00:1450::200:5efe:a00:1]/',
  // Private, link-local, carrier NAT, multicast, reserved.
  'http://10.0.0.1/',
  'http://10.255.255.255/',
  'http://172.16.0.1/',
  'http://172.31.255.254/',
  'http://192.168.0.1/',
  'http://192.168.1.254:8080/',
  'http://100.64.0.1/',
  'http://169.254.0.1/',
  'http://192.0.0.8/',
  'http://198.18.0.1/',
  'http://224.0.0.1/',
  'http://239.255.255.250/',
  'http://255.255.255.255/',
  'http://240.0.0.1/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://[fc00::1]/',
  'http://[fd12:3456:789a::1]/',
  'http://[ff02::1]/',
  'http://[2001:db8::1]/',
  // Metadata.
  'http://169.254.169.254/latest/meta-data/',
  'http://2852039166/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://0251.0376.0251.0376/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[fd00:ec2::254]/',
  'http://169.254.170.2/v2/credentials',
  'http://168.63.129.16/',
  'http://100.100.100.200/',
  // Other readings of one text.
  'http://example.com@127.0.0.1:PORT/',
  'http://127.0.0.1:PORT\\@example.com/',
  'http:\\\\127.0.0.1:PORT\\',
  'http:127.0.0.1:PORT/',
  'http:///127.0.0.1:PORT/',
  ' \thttp://127.0.0.1:PORT/',
  'http://127.0.0\n.1:PORT/',
  'HTTP://127.0.0.1:PORT/',
  'https://127.0.0.1:PORT/',
  // Other schemes.
  'file:///etc/passwd',
  'ftp://127.0.0.1:PORT/',
  'gopher://127.0.0.1:PORT/_GET',
  'data:text/plain,secret',
  'unix:/var/run/docker.sock',
  'javascript:alert(1)',
] as const;

const noExceptions = makeSettings({
  outbound: { allow: new Set() },
  retryPolicy: { maxAttempts: 1, backoffMs: 1, idleTimeoutMs: 1_000 },
});

describe('An address that is not public', () => {
  it('comes in more than sixty spellings here', () => {
    expect(new Set(forbidden).size).toBeGreaterThanOrEqual(60);
  });

  it.each(forbidden)('is not reached as %j', async (spelling) => {
    const url = spelling.replace('PORT', String(canary.port));
    const failure = await failureOf(importUrl(makeRun('import/url', { url }), noExceptions));
    expect(failure.errorCode).toBe('processing_failed');
    expect(failure.msg).toMatch(/is not a public address|is not a supported URL scheme|credentials in the URL/);
    expect(canary.requests).toEqual([]);
  });

  // In a Location, a scheme without slashes begins a path on the same host.
  it.each(forbidden.filter((spelling) => !spelling.startsWith('http:127')))(
    'is not reached by a redirect to %j',
    async (spelling) => {
      const location = spelling.replace('PORT', String(canary.port));
      await using server = await startFileServer((_request, response) => {
        // Node refuses some of these as header values; a hostile server does not.
        response.socket?.end(
          `HTTP/1.1 302 Found\r\nlocation: ${location.replace(/[\r\n]/g, '')}\r\ncontent-length: 0\r\n\r\n`,
        );
      });
      // Only the server that redirects is excepted, by its port.
      const settings = makeSettings({
        outbound: { allow: new Set([`127.0.0.1:${server.port}`]) },
        retryPolicy: noExceptions.retryPolicy,
      });
      const failure = await failureOf(importUrl(makeRun('import/url', { url: server.url }), settings));
      expect(failure.msg).toMatch(
        /is not a public address|is not a supported URL scheme|credentials in the URL|redirects to an invalid URL/,
      );
      expect(server.requests).toHaveLength(1);
      expect(canary.requests).toEqual([]);
    },
  );

  it.each(['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00:ec2::254', '64:ff9b::7f00:1'])(
    'is not reached through a name that resolves to %s, alone or beside a public one',
    async (address) => {
      const family = address.includes(':') ? 6 : 4;
      for (const addresses of [
        [{ address, family }],
        [
          { address: '2600::1', family: 6 },
          { address, family },
        ],
      ]) {
        const outbound = { allow: new Set<string>(), resolve: async () => addresses };
        const settings = makeSettings({ outbound, retryPolicy: noExceptions.retryPolicy });
        const failure = await failureOf(
          importUrl(makeRun('import/url', { url: `http://innocent.example:${canary.port}/` }), settings),
        );
        expect(failure.msg).toContain('is not a public address');
      }
      expect(canary.requests).toEqual([]);
    },
  );

  it('is not reached through a name that resolves differently between lookup and connection', async () => {
    let lookups = 0;
    const resolve = async () =>
      ++lookups === 1 ? [{ address: '2600::1', family: 6 }] : [{ address: '127.0.0.1', family: 4 }];
    const settings = makeSettings({ outbound: { allow: new Set(), resolve }, retryPolicy: noExceptions.retryPolicy });
    await failureOf(importUrl(makeRun('import/url', { url: `http://rebinding.example:${canary.port}/` }), settings));
    expect(lookups).toBe(1);
    expect(canary.requests).toEqual([]);
  });

  it('is not reached through a name that resolves differently while a transfer is resumed', async () => {
    await using server = await startFileServer((_request, response) => {
      response.writeHead(200, { 'content-length': 1000, etag: '"v1"' });
      response.write('x', () => response.socket?.destroy());
    });
    let lookups = 0;
    const resolve = async () => [{ address: ++lookups === 1 ? '127.0.0.1' : '127.0.0.9', family: 4 }];
    const settings = makeSettings({ outbound: { allow: new Set(), resolve } });
    const failure = await failureOf(
      importUrl(makeRun('import/url', { url: `http://rebinding.example:${server.port}/` }), settings),
    );
    expect(failure.msg).toContain('is not a public address');
    expect(server.requests).toEqual([]);
  });

  it('is what the check saw: the connection goes to the first address, without a second lookup', async () => {
    await using server = await startFileServer((_request, response) => response.end('content'));
    let lookups = 0;
    const resolve = async () => [{ address: ++lookups === 1 ? '127.0.0.1' : '127.0.0.9', family: 4 }];
    const settings = makeSettings({ outbound: { allow: new Set(['excepted.example']), resolve } });
    const { files } = await importUrl(
      makeRun('import/url', { url: `http://excepted.example:${server.port}/` }),
      settings,
    );
    expect(files[0]?.size).toBe(7);
    expect(lookups).toBe(1);
    expect(server.requests[0]?.headers.host).toBe(`excepted.example:${server.port}`);
  });

  const keys = { access_key_id: 'a', secret_access_key: 'b', region: 'us-east-1', bucket: 'bucket', key: 'k' };

  it.each([
    'http://127.0.0.1:PORT',
    'http://localhost:PORT',
    'http://[::1]:PORT',
    'http://2130706433:PORT',
    'http://169.254.169.254',
    'http://user@10.0.0.1',
  ])('is not reached as the endpoint %s of a store', async (spelling) => {
    const endpoint = spelling.replace('PORT', String(canary.port));
    const run = makeRun('import/objstore_a', { ...keys, endpoint });
    const failure = await failureOf(importObjstoreA(run, noExceptions));
    expect(failure.msg).toMatch(/is not a public address|credentials in the URL/);
    expect(canary.requests).toEqual([]);
  });

  it('is not reached through an endpoint whose name resolves to it', async () => {
    const outbound = { allow: new Set<string>(), resolve: async () => [{ address: '127.0.0.1', family: 4 }] };
    const run = makeRun('import/objstore_a', { ...keys, endpoint: `http://store.example:${canary.port}` });
    const failure = await failureOf(
      importObjstoreA(run, makeSettings({ outbound, retryPolicy: noExceptions.retryPolicy })),
    );
    expect(failure.msg).toContain('is not a public address');
    expect(canary.requests).toEqual([]);
  });

  it.each(['x.example.com/', 'us-east-1.evil.example', '127.0.0.1', 'a@b', 'us-east-1#', 'us-east-1?'])(
    'is not reached through the region %j',
    async (region) => {
      const failure = await failureOf(importObjstoreA(makeRun('import/objstore_a', { ...keys, region }), noExceptions));
      expect(failure.msg).toContain('Expected a region');
    },
  );

  it.each(['arn:aws:s3:us-east-1:123456789012:accesspoint/x', 'a/../b', 'a@127.0.0.1', 'a b', 'a?b', 'a#b'])(
    'is not reached through the bucket %j',
    async (bucket) => {
      const failure = await failureOf(importObjstoreA(makeRun('import/objstore_a', { ...keys, bucket }), noExceptions));
      expect(failure.msg).toContain('Expected the name of a bucket');
    },
  );

  it.each(['evil.example/x', '127.0.0.1#', 'a@b', 'account.evil', 'UPPER', 'ab'])(
    'is not reached through the storage account %j',
    async (storage_account) => {
      const run = makeRun('import/blobstore', {
        storage_account,
        container: 'files',
        storage_access_key: 'YQ==',
        blob: 'b',
      });
      expect((await failureOf(importBlobstore(run, noExceptions))).msg).toContain('for storage_account');
    },
  );

  it.each([
    '127.0.0.1',
    '2130706433',
    'localhost',
    '0x7f.1',
    '::1',
    '[::1]',
    '::ffff:127.0.0.1',
    '127.1',
    '0',
    '169.254.169.254',
  ])('is not reached as the SFTP host %s', async (host) => {
    const run = makeRun('import/sftp', { host, port: canary.port, username: 'u', password: 'p', file_string: '/f' });
    const failure = await failureOf(importSftp(run, noExceptions));
    expect(failure.msg).toContain('is not a public address');
    expect(canary.requests).toEqual([]);
  });
});
