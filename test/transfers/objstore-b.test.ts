import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportObjstoreB, importObjstoreB } from '../../functions/transfers/objstore-b.ts';
import type { JsonObject, Task } from '../../shared/tasks/task.ts';
import { skipBecause } from '../support/skip.ts';
import { startFileServer } from './file-server.ts';
import { failureOf, gcsKey, makeInput, noise, type OwnBucket, startOwnBucket } from './own-bucket.ts';
import { makeRun, makeSettings } from './run.ts';
import { findGcsServer, type GcsStore, startGcsServer } from './stores.ts';
import { openToxicLink } from './toxic-link.ts';

const program = await findGcsServer();

const privateKey = gcsKey();
let own: OwnBucket;

beforeAll(async () => {
  own = await startOwnBucket();
});
afterAll(async () => {
  delete process.env.LATHE_STANDIN_GCS;
  await own[Symbol.asyncDispose]();
});

const parameters = (change: JsonObject = {}): JsonObject => ({
  project_id: 'project',
  bucket: 'customer',
  client_email: 'robot@project.iam.gserviceaccount.com',
  // As it stands in the key file that Google hands out.
  private_key: privateKey.replaceAll('\n', '\\n'),
  ...change,
});
/** Tests of one file run one after the other, so each may say where Google is. */
function importing(change: JsonObject, port: number) {
  process.env.LATHE_STANDIN_GCS = `http://127.0.0.1:${port}`;
  return importObjstoreB(makeRun('import/objstore_b', parameters(change)), makeSettings());
}
function exporting(change: JsonObject, input: Task, port: number) {
  process.env.LATHE_STANDIN_GCS = `http://127.0.0.1:${port}`;
  return exportObjstoreB(makeRun('export/objstore_b', parameters(change), [input]), makeSettings());
}

describe('objstore_b', () => {
  it.each([
    [401, 'invalid_credentials'],
    [403, 'insufficient_permission'],
    [404, 'processing_failed'],
    [400, 'processing_failed'],
  ])('says what status %i means and does not try again', async (status, errorCode) => {
    await using server = await startFileServer((_request, response) => response.writeHead(status).end('{}'));
    const failure = await failureOf(importing({ file: 'a.bin' }, server.port));
    expect(failure.errorCode).toBe(errorCode);
    expect(server.requests).toHaveLength(1);
  });

  it.each([429, 500, 503])('retries after status %i', async (status) => {
    await using server = await startFileServer((_request, response) => response.writeHead(status).end('{}'));
    const failure = await failureOf(importing({ file: 'a.bin' }, server.port));
    expect(failure.msg).toContain('after 4 attempts');
    expect(server.requests).toHaveLength(4);
  });

  it('sends the content type, which fake-gcs-server does not keep', async () => {
    const input = await makeInput([{ name: 'a.png', content: Buffer.from('x'), mediaType: 'image/png' }]);
    await using server = await startFileServer((_request, response) => response.writeHead(400).end('{}'));
    await failureOf(exporting({ file: 'a.png' }, input, server.port));
    expect(server.requests[0]?.headers['x-upload-content-type']).toBe('image/png');
  });

  it('says that a private key is none before anything is sent', async () => {
    await using server = await startFileServer((_request, response) => response.end());
    const failure = await failureOf(importing({ file: 'a', private_key: 'garbage' }, server.port));
    expect(failure.errorCode).toBe('invalid_credentials');
    expect(failure.msg).not.toContain('garbage');
    expect(server.requests).toEqual([]);
  });

  it('does not reach a stand-in that the policy refuses', async () => {
    await using server = await startFileServer((_request, response) => response.end());
    process.env.LATHE_STANDIN_GCS = server.url;
    const run = makeRun('import/objstore_b', parameters({ file: 'a' }));
    const failure = await failureOf(importObjstoreB(run, makeSettings({ outbound: { allow: new Set() } })));
    expect(failure.msg).toContain('is not a public address');
    expect(server.requests).toEqual([]);
  });
});

describe('objstore_b against fake-gcs-server', skipBecause('missing' in program ? program.missing : undefined), () => {
  let store: GcsStore;

  beforeAll(async () => {
    if ('path' in program) store = await startGcsServer(program.path);
  });
  afterAll(() => store[Symbol.asyncDispose]());

  const put = async (name: string, content: Buffer) => {
    const url = `${store.url}/upload/storage/v1/b/customer/o?uploadType=media&name=${encodeURIComponent(name)}`;
    const response = await fetch(url, { method: 'POST', body: new Uint8Array(content) });
    if (!response.ok) throw new Error(`The object could not be stored: ${response.status}`);
  };
  const object = (name: string, query = '') =>
    fetch(`${store.url}/storage/v1/b/customer/o/${encodeURIComponent(name)}${query}`);
  const read = async (name: string) => Buffer.from(await (await object(name, '?alt=media')).arrayBuffer());

  it('imports an object byte for byte', async () => {
    const content = noise(9_000_000);
    await put('a/b/数据.bin', content);
    const { files } = await importing({ file: 'a/b/数据.bin' }, store.port);
    expect(files[0]).toMatchObject({ name: '数据.bin', size: content.length });
    expect(files[0] && (await own.read(files[0])).equals(content)).toBe(true);
  });

  it('says that an object or a bucket is missing', async () => {
    const missing = await failureOf(importing({ file: 'missing' }, store.port));
    const bucket = await failureOf(importing({ file: 'x', bucket: 'missing' }, store.port));
    expect([missing.msg, bucket.msg].every((msg) => msg.includes('missing'))).toBe(true);
  });

  it.each([
    ['drops', false],
    ['falls silent', true],
  ])('brings the object whole over a link that %s', async (_what, silent) => {
    const content = noise(12_000_000);
    await put('drop.bin', content);
    await using link = await openToxicLink(store.port, { after: 4_000_000, direction: 'down', times: 2, silent });
    const { files } = await importing({ file: 'drop.bin' }, link.port);
    expect(link.cuts).toBe(2);
    expect(files[0] && (await own.read(files[0])).equals(content)).toBe(true);
  });

  it('fails, and stores nothing, when the link drops every time', async () => {
    await put('never.bin', noise(2_000_000));
    await using link = await openToxicLink(store.port, { after: 0, direction: 'down', times: 1_000 });
    const before = await own.keys();
    expect((await failureOf(importing({ file: 'never.bin' }, link.port))).errorCode).toBe('processing_failed');
    expect(await own.keys()).toEqual(before);
  });

  it('exports several files under a prefix with content type and disposition', async () => {
    const contents = [noise(20_000_000), noise(10)];
    const input = await makeInput(
      contents.map((content, index) => ({ name: `${index}.png`, content, mediaType: 'image/png' })),
    );
    const { details } = await exporting({ file_prefix: 'out/', content_disposition: 'inline' }, input, store.port);
    expect(details).toMatchObject({
      locations: [{ location: 'gs://customer/out/0.png' }, { location: 'gs://customer/out/1.png' }],
    });
    expect((await read('out/0.png')).equals(contents[0] ?? Buffer.alloc(0))).toBe(true);
    expect(await (await object('out/1.png')).json()).toMatchObject({ contentDisposition: 'inline', size: '10' });
  });

  it.each([
    ['drops', false],
    ['falls silent', true],
  ])('writes the object whole over a link that %s', async (what, silent) => {
    const content = noise(20_000_000);
    const input = await makeInput([{ name: 'big.bin', content }]);
    await using link = await openToxicLink(store.port, { after: 5_000_000, direction: 'up', times: 2, silent });
    await exporting({ file: `${what}.bin` }, input, link.port);
    expect(link.cuts).toBe(2);
    expect((await read(`${what}.bin`)).equals(content)).toBe(true);
  });

  it('leaves no object when the link drops every time', async () => {
    const input = await makeInput([{ name: 'big.bin', content: noise(10_000_000) }]);
    await using link = await openToxicLink(store.port, { after: 1_000_000, direction: 'up', times: 1_000 });
    const failure = await failureOf(exporting({ file: 'never-up.bin' }, input, link.port));
    expect(failure.msg).toContain('after 4 attempts');
    expect((await object('never-up.bin')).status).toBe(404);
  });

  it('retries an export after an overload and not after a refusal', async () => {
    const input = await makeInput([{ name: 'a', content: Buffer.from('a') }]);
    let status = 503;
    await using server = await startFileServer((_request, response) => response.writeHead(status).end('{}'));
    await failureOf(exporting({ file: 'a' }, input, server.port));
    expect(server.requests).toHaveLength(4);
    status = 403;
    const refused = await failureOf(exporting({ file: 'a' }, input, server.port));
    expect(refused.errorCode).toBe('insufficient_permission');
    expect(server.requests).toHaveLength(5);
  });
});
