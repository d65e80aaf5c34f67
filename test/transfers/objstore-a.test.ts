import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportObjstoreA, importObjstoreA } from '../../functions/transfers/objstore-a.ts';
import type { JsonObject } from '../../shared/tasks/task.ts';
import { startFileServer } from './file-server.ts';
import { failureOf, makeInput, noise, type OwnBucket, startOwnBucket } from './own-bucket.ts';
import { makeRun, makeSettings } from './run.ts';
import { type S3Store, startS3Store } from './stores.ts';
import { openToxicLink } from './toxic-link.ts';

let own: OwnBucket;
let store: S3Store;

beforeAll(async () => {
  own = await startOwnBucket();
  store = await startS3Store();
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  await own[Symbol.asyncDispose]();
});

const parameters = (change: JsonObject = {}, port = store.port): JsonObject => ({
  bucket: store.bucket,
  region: 'us-east-1',
  endpoint: store.endpoint(port),
  ...store.credentials,
  ...change,
});
const put = (Key: string, Body: Buffer, more = {}) =>
  store.client.send(new PutObjectCommand({ Bucket: store.bucket, Key, Body, ...more }));
const importing = (change: JsonObject, port?: number) =>
  importObjstoreA(makeRun('import/objstore_a', parameters(change, port)), makeSettings());

describe('import/objstore_a', () => {
  it('stores an object byte for byte under the last part of its key', async () => {
    const content = noise(20_000_000);
    await put('reports/2026/März/数据.bin', content);
    const { files } = await importing({ key: 'reports/2026/März/数据.bin' });
    const [file] = files;
    expect(file).toMatchObject({ name: '数据.bin', size: content.length });
    expect(file && (await own.read(file)).equals(content)).toBe(true);
  });

  it('imports every object under a prefix in the order of the keys, with names of their own', async () => {
    for (const key of ['set/b.txt', 'set/a/same.txt', 'set/10.txt', 'set/a/b/same.txt', 'set/2.txt', 'other.txt'])
      await put(key, Buffer.from(key));
    await put('set/', Buffer.alloc(0));
    const { files } = await importing({ key_prefix: 'set/' });
    expect(files.map((file) => file.name)).toEqual(['10.txt', '2.txt', 'same.txt', 'same (2).txt', 'b.txt']);
    expect((await Promise.all(files.map((file) => own.read(file)))).map(String)).toEqual([
      'set/10.txt',
      'set/2.txt',
      'set/a/b/same.txt',
      'set/a/same.txt',
      'set/b.txt',
    ]);
  });

  it('says so when nothing begins with the prefix, and when too much does', async () => {
    const xml = (count: number) =>
      `<ListBucketResult><IsTruncated>false</IsTruncated>${Array.from({ length: count }, (_, index) => `<Contents><Key>p/${index}</Key><Size>1</Size></Contents>`).join('')}</ListBucketResult>`;
    await using server = await startFileServer((_request, response) => response.end(xml(501)));
    const empty = await failureOf(importing({ key_prefix: 'nowhere/' }));
    const many = await failureOf(importing({ key_prefix: 'p/' }, server.port));
    expect(empty.msg).toBe('No object in the bucket "customer" has the prefix "nowhere/".');
    expect(many.msg).toContain('More than 500 objects');
  });

  it.each([
    ['a wrong secret', { secret_access_key: 'wrong' }, 'invalid_credentials'],
    ['an unknown key id', { access_key_id: 'UNKNOWN' }, 'invalid_credentials'],
    ['a missing object', { key: 'missing' }, 'processing_failed'],
    ['a missing bucket', { bucket: 'missing' }, 'processing_failed'],
  ])('says what is wrong with %s', async (_what, change, errorCode) => {
    await put('there.txt', Buffer.from('x'));
    const failure = await failureOf(importing({ key: 'there.txt', ...change }));
    expect(failure.errorCode).toBe(errorCode);
    expect(failure.msg).not.toContain('wrong');
    if (errorCode === 'processing_failed') expect(failure.msg).toContain('"missing"');
  });

  it('takes a session token, and says when its role may not read', async () => {
    const denied = await failureOf(importing({ ...store.powerless, key: 'x' }));
    const unknown = await failureOf(importing({ session_token: 'other', key: 'x' }));
    expect(denied).toEqual({
      errorCode: 'insufficient_permission',
      msg: 'The access key has no permission for this in the bucket "customer".',
    });
    expect(unknown.errorCode).toBe('invalid_credentials');
  });

  it('reads with the role of the deployment when no keys are given', async () => {
    await own.client.send(new PutObjectCommand({ Bucket: 'opened', Key: 'k.txt', Body: 'opened' }));
    const bare = (change: JsonObject) =>
      importObjstoreA(
        makeRun('import/objstore_a', { region: 'eu-central-1', key: 'k.txt', ...change }),
        makeSettings(),
      );
    const { files } = await bare({ bucket: 'opened' });
    const closed = await failureOf(bare({ bucket: 'closed' }));
    const ours = await failureOf(bare({ bucket: 'lathe-files' }));
    const elsewhere = await failureOf(bare({ bucket: 'opened', endpoint: store.endpoint() }));
    expect(files[0] && (await own.read(files[0])).toString()).toBe('opened');
    expect(closed.errorCode).toBe('insufficient_permission');
    // The files of every user are in there.
    expect(ours).toEqual({
      errorCode: 'insufficient_permission',
      msg: 'The bucket "lathe-files" is not open to imports and exports.',
    });
    expect(elsewhere.errorCode).toBe('invalid_credentials');
  });

  it.each([
    ['drops', false],
    ['falls silent', true],
  ])('brings the object whole over a link that %s', async (_what, silent) => {
    const content = noise(12_000_000);
    await put('drop.bin', content);
    await using link = await openToxicLink(store.port, { after: 4_000_000, direction: 'down', times: 2, silent });
    const { files } = await importing({ key: 'drop.bin' }, link.port);
    expect(link.cuts).toBe(2);
    expect(files[0] && (await own.read(files[0])).equals(content)).toBe(true);
  });

  it('fails, and stores nothing, when the link drops every time', async () => {
    await put('never.bin', noise(3_000_000));
    await using link = await openToxicLink(store.port, { after: 0, direction: 'down', times: 1_000 });
    const before = await own.keys();
    const failure = await failureOf(importing({ key: 'never.bin' }, link.port));
    expect(failure.msg).toMatch(/was dropped.*after 4 attempts/);
    expect(await own.keys()).toEqual(before);
  });

  it('stops at the size limit', async () => {
    await put('large.bin', noise(2_000_000));
    const settings = makeSettings({ maxFileBytes: 1_000_000 });
    const failure = await failureOf(
      importObjstoreA(makeRun('import/objstore_a', parameters({ key: 'large.bin' })), settings),
    );
    expect(failure.msg).toContain('larger than 1000000 bytes');
  });

  it('retries after an overload and not after a refusal', async () => {
    let status = 503;
    await using server = await startFileServer((_request, response) => response.writeHead(status).end());
    await failureOf(importing({ key: 'k' }, server.port));
    expect(server.requests).toHaveLength(4);
    status = 403;
    await failureOf(importing({ key: 'k' }, server.port));
    expect(server.requests).toHaveLength(5);
  });
});

describe('export/objstore_a', () => {
  it('writes several files under a prefix with content type and disposition, and keeps copies', async () => {
    const contents = [noise(10_000_000), noise(100)];
    const input = await makeInput([
      { name: 'a.pdf', content: contents[0] ?? Buffer.alloc(0), mediaType: 'application/pdf' },
      { name: 'A.pdf', content: contents[1] ?? Buffer.alloc(0), mediaType: 'application/pdf' },
    ]);
    const run = makeRun('export/objstore_a', parameters({ key_prefix: 'out/', content_disposition: 'attachment' }), [
      input,
    ]);
    const result = await exportObjstoreA(run, makeSettings());
    expect(result.details).toEqual({
      locations: [
        { filename: 'a.pdf', size: 10_000_000, location: 's3://customer/out/a.pdf' },
        { filename: 'A.pdf', size: 100, location: 's3://customer/out/A (2).pdf' },
      ],
    });
    for (const [index, Key] of ['out/a.pdf', 'out/A (2).pdf'].entries()) {
      const { Body, ContentType, ContentDisposition } = await store.client.send(
        new GetObjectCommand({ Bucket: store.bucket, Key }),
      );
      expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(contents[index] ?? Buffer.alloc(0))).toBe(
        true,
      );
      expect([ContentType, ContentDisposition]).toEqual(['application/pdf', 'attachment']);
    }
    const [copy] = result.files;
    expect(copy && (await own.read(copy)).equals(contents[0] ?? Buffer.alloc(0))).toBe(true);
    expect(copy?.key).not.toBe(input.files[0]?.key);
  });

  it('does not write several files to one key', async () => {
    const input = await makeInput(['a', 'b'].map((name) => ({ name, content: Buffer.from(name) })));
    const failure = await failureOf(
      exportObjstoreA(makeRun('export/objstore_a', parameters({ key: 'one' }), [input]), makeSettings()),
    );
    expect(failure.msg).toBe('The input has 2 files, which cannot share one key. Set key_prefix instead.');
  });

  it.each([
    ['drops', false],
    ['falls silent', true],
  ])('writes the object whole over a link that %s', async (_what, silent) => {
    const content = noise(20_000_000);
    const input = await makeInput([{ name: 'big.bin', content }]);
    await using link = await openToxicLink(store.port, { after: 5_000_000, direction: 'up', times: 2, silent });
    await exportObjstoreA(
      makeRun('export/objstore_a', parameters({ key: 'dropped-up.bin' }, link.port), [input]),
      makeSettings(),
    );
    const { Body } = await store.client.send(new GetObjectCommand({ Bucket: store.bucket, Key: 'dropped-up.bin' }));
    expect(link.cuts).toBe(2);
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(content)).toBe(true);
  });

  it('leaves no object when the link drops every time', async () => {
    const input = await makeInput([{ name: 'big.bin', content: noise(10_000_000) }]);
    await using link = await openToxicLink(store.port, { after: 1_000_000, direction: 'up', times: 1_000 });
    const failure = await failureOf(
      exportObjstoreA(
        makeRun('export/objstore_a', parameters({ key: 'never-up.bin' }, link.port), [input]),
        makeSettings(),
      ),
    );
    expect(failure.errorCode).toBe('processing_failed');
    await expect(
      store.client.send(new HeadObjectCommand({ Bucket: store.bucket, Key: 'never-up.bin' })),
    ).rejects.toThrow();
  });

  it('says what is wrong with credentials', async () => {
    const input = await makeInput([{ name: 'a', content: Buffer.from('a') }]);
    const failure = await failureOf(
      exportObjstoreA(
        makeRun('export/objstore_a', parameters({ key: 'k', secret_access_key: 'wrong' }), [input]),
        makeSettings(),
      ),
    );
    expect(failure.errorCode).toBe('invalid_credentials');
  });
});
