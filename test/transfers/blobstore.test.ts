import { BlobSASPermissions, generateBlobSASQueryParameters, StorageSharedKeyCredential } from '@azure/storage-blob';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportBlobstore, importBlobstore } from '../../functions/transfers/blobstore.ts';
import type { JsonObject } from '../../shared/tasks/task.ts';
import { startFileServer } from './file-server.ts';
import { failureOf, makeInput, noise, type OwnBucket, startOwnBucket } from './own-bucket.ts';
import { makeRun, makeSettings } from './run.ts';
import { type AzureStore, startAzurite } from './stores.ts';
import { openToxicLink } from './toxic-link.ts';

let own: OwnBucket;
let azure: AzureStore;

beforeAll(async () => {
  own = await startOwnBucket();
  azure = await startAzurite();
});
afterAll(async () => {
  delete process.env.LATHE_STANDIN_AZURE;
  await azure[Symbol.asyncDispose]();
  await own[Symbol.asyncDispose]();
});

const parameters = (change: JsonObject = {}): JsonObject => ({
  storage_account: azure.account,
  container: azure.container,
  storage_access_key: azure.key,
  ...change,
});
const put = (name: string, content: Buffer) =>
  azure.service.getContainerClient(azure.container).getBlockBlobClient(name).uploadData(content);
const read = (name: string) => azure.service.getContainerClient(azure.container).getBlobClient(name).downloadToBuffer();
/** Tests of one file run one after the other, so each may say where Azure is. */
function importing(change: JsonObject, port = azure.port) {
  process.env.LATHE_STANDIN_AZURE = `http://127.0.0.1:${port}`;
  return importBlobstore(makeRun('import/blobstore', parameters(change)), makeSettings());
}
function exporting(change: JsonObject, input: Awaited<ReturnType<typeof makeInput>>, port = azure.port) {
  process.env.LATHE_STANDIN_AZURE = `http://127.0.0.1:${port}`;
  return exportBlobstore(makeRun('export/blobstore', parameters(change), [input]), makeSettings());
}
function sas(blobName: string, permissions: string, seconds = 600): string {
  return generateBlobSASQueryParameters(
    {
      containerName: azure.container,
      blobName,
      permissions: BlobSASPermissions.parse(permissions),
      startsOn: new Date(Date.now() - 60_000 - Math.max(0, -seconds) * 2_000),
      expiresOn: new Date(Date.now() + seconds * 1000),
    },
    new StorageSharedKeyCredential(azure.account, azure.key),
  ).toString();
}
function bySas(token: string): JsonObject {
  const { storage_access_key: _key, ...rest } = parameters({ sas_token: token });
  return rest;
}

describe('import/blobstore', () => {
  it('stores a blob byte for byte, with the key and with a token', async () => {
    const content = noise(9_000_000);
    await put('a/b/Zürich.bin', content);
    const byKey = await importing({ blob: 'a/b/Zürich.bin' });
    const run = makeRun('import/blobstore', { ...bySas(`?${sas('a/b/Zürich.bin', 'r')}`), blob: 'a/b/Zürich.bin' });
    const byToken = await importBlobstore(run, makeSettings());
    for (const { files } of [byKey, byToken]) {
      expect(files[0]).toMatchObject({ name: 'Zürich.bin', size: content.length });
      expect(files[0] && (await own.read(files[0])).equals(content)).toBe(true);
    }
  });

  it.each([
    // Azurite says AuthorizationFailure where Azure says AuthenticationFailed, which a test below responds with.
    [
      'a wrong key',
      () => parameters({ storage_access_key: Buffer.from('wrong').toString('base64') }),
      'insufficient_permission',
    ],
    ['a token that has expired', () => bySas(sas('there', 'r', -60)), 'insufficient_permission'],
    ['a token that is none', () => bySas('nonsense'), 'invalid_credentials'],
    ['a token for something else', () => bySas(sas('there', 'w')), 'insufficient_permission'],
    ['a missing blob', () => parameters({ blob: 'missing' }), 'processing_failed'],
    ['a missing container', () => parameters({ container: 'missing' }), 'processing_failed'],
  ])('says what is wrong with %s', async (_what, given, errorCode) => {
    await put('there', Buffer.from('x'));
    process.env.LATHE_STANDIN_AZURE = `http://127.0.0.1:${azure.port}`;
    const run = makeRun('import/blobstore', { blob: 'there', ...given() });
    const failure = await failureOf(importBlobstore(run, makeSettings()));
    expect(failure.errorCode).toBe(errorCode);
    if (errorCode === 'processing_failed') expect(failure.msg).toContain('"missing"');
  });

  it.each([
    ['drops', false],
    ['falls silent', true],
  ])('brings the blob whole over a link that %s', async (_what, silent) => {
    const content = noise(12_000_000);
    await put('drop.bin', content);
    await using link = await openToxicLink(azure.port, { after: 4_000_000, direction: 'down', times: 2, silent });
    const { files } = await importing({ blob: 'drop.bin' }, link.port);
    expect(link.cuts).toBe(2);
    expect(files[0] && (await own.read(files[0])).equals(content)).toBe(true);
  });

  it('fails, and stores nothing, when the link drops every time', async () => {
    await put('never.bin', noise(2_000_000));
    await using link = await openToxicLink(azure.port, { after: 0, direction: 'down', times: 1_000 });
    const before = await own.keys();
    expect((await failureOf(importing({ blob: 'never.bin' }, link.port))).msg).toMatch(/after 4 attempts/);
    expect(await own.keys()).toEqual(before);
  });

  it('retries after an overload and not after a refusal', async () => {
    let status = 503;
    await using server = await startFileServer((_request, response) => response.writeHead(status).end());
    await failureOf(importing({ blob: 'b' }, server.port));
    expect(server.requests).toHaveLength(4);
    status = 403;
    await failureOf(importing({ blob: 'b' }, server.port));
    expect(server.requests).toHaveLength(5);
  });

  it('does not reach a stand-in that the policy refuses', async () => {
    process.env.LATHE_STANDIN_AZURE = `http://127.0.0.1:${azure.port}`;
    const run = makeRun('import/blobstore', parameters({ blob: 'there' }));
    const failure = await failureOf(importBlobstore(run, makeSettings({ outbound: { allow: new Set() } })));
    expect(failure.msg).toContain('is not a public address');
  });
});

describe('export/blobstore', () => {
  it('writes several files under a prefix with content type and disposition', async () => {
    const contents = [noise(10_000_000), noise(10)];
    const input = await makeInput(
      contents.map((content, index) => ({ name: `${index}.png`, content, mediaType: 'image/png' })),
    );
    const { details } = await exporting({ blob_prefix: 'out/x-', content_disposition: 'inline' }, input);
    expect(details).toEqual({
      locations: [0, 1].map((index) => ({
        filename: `${index}.png`,
        size: contents[index]?.length,
        location: `http://127.0.0.1:${azure.port}/lathetest/customer/out/x-${index}.png`,
      })),
    });
    expect((await read('out/x-0.png')).equals(contents[0] ?? Buffer.alloc(0))).toBe(true);
    const properties = await azure.service
      .getContainerClient(azure.container)
      .getBlobClient('out/x-1.png')
      .getProperties();
    expect([properties.contentType, properties.contentDisposition]).toEqual(['image/png', 'inline']);
  });

  it.each([
    ['drops', false],
    ['falls silent', true],
  ])('writes the blob whole over a link that %s', async (_what, silent) => {
    const content = noise(20_000_000);
    const input = await makeInput([{ name: 'big.bin', content }]);
    await using link = await openToxicLink(azure.port, { after: 5_000_000, direction: 'up', times: 2, silent });
    await exporting({ blob: 'up.bin' }, input, link.port);
    expect(link.cuts).toBe(2);
    expect((await read('up.bin')).equals(content)).toBe(true);
  });

  it('leaves no blob when the link drops every time', async () => {
    const input = await makeInput([{ name: 'big.bin', content: noise(10_000_000) }]);
    await using link = await openToxicLink(azure.port, { after: 1_000_000, direction: 'up', times: 1_000 });
    const failure = await failureOf(exporting({ blob: 'never-up.bin' }, input, link.port));
    expect(failure.errorCode).toBe('processing_failed');
    expect(await azure.service.getContainerClient(azure.container).getBlobClient('never-up.bin').exists()).toBe(false);
  });

  it('knows the words of Azure for credentials that are wrong and for those that are not enough', async () => {
    const input = await makeInput([{ name: 'a', content: Buffer.from('a') }]);
    let code = 'AuthenticationFailed';
    await using server = await startFileServer((_request, response) =>
      response.writeHead(403, { 'x-ms-error-code': code }).end(),
    );
    const wrong = await failureOf(exporting({ blob: 'b' }, input, server.port));
    code = 'AuthorizationPermissionMismatch';
    const weak = await failureOf(exporting({ blob: 'b' }, input, server.port));
    expect([wrong.errorCode, weak.errorCode]).toEqual(['invalid_credentials', 'insufficient_permission']);
    expect(server.requests).toHaveLength(2);
  });
});
