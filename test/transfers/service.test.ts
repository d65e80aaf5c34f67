import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { PDFDocument } from '@cantoo/pdf-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PlainSubscriber, untilSubscribed } from '../events/subscribers.ts';
import { download, filesOf, taskOf } from '../support/client.ts';
import { twoHalves } from '../support/images.ts';
import { functionOf, type RunningService, startAlteredStack, startService } from '../support/running-stack.ts';
import { until } from '../support/until.ts';
import { startFileServer } from './file-server.ts';
import { type AzureStore, type S3Store, type SftpStore, startAzurite, startS3Store, startSshd } from './stores.ts';

let service: RunningService;
let store: S3Store;
let sshd: SftpStore;

beforeAll(async () => {
  [service, store, sshd] = await Promise.all([
    startService({ LATHE_ALLOW_HOSTS: '127.0.0.1', LATHE_MAX_FILE_BYTES: '1000000' }),
    startS3Store(),
    startSshd(),
  ]);
});
afterAll(async () => {
  await Promise.all([service, store, sshd].map((each) => each?.[Symbol.asyncDispose]()));
});

const objstore = () => ({
  bucket: store.bucket,
  region: 'us-east-1',
  endpoint: store.endpoint(),
  ...store.credentials,
});
const sftp = () => ({
  host: '127.0.0.1',
  port: String(sshd.port),
  username: sshd.username,
  private_key: sshd.privateKey,
  host_key_fingerprint: sshd.fingerprint,
});

describe('The service', () => {
  it('imports from a URL, a bucket and a server, converts, and exports to both', async () => {
    const image = await twoHalves(30, 20);
    await using server = await startFileServer((_request, response) => response.end(image));
    await store.client.send(new PutObjectCommand({ Bucket: store.bucket, Key: 'in/a.png', Body: image }));
    await writeFile(join(sshd.folder, 'b.png'), image);

    const job = await service.client.runJob({
      url: { operation: 'import/url', url: `${server.url}/c.png`, headers: { 'x-key': 'value' } },
      bucket: { operation: 'import/objstore_a', ...objstore(), key: 'in/a.png' },
      server: { operation: 'import/sftp', ...sftp(), file_string: join(sshd.folder, 'b.png') },
      fromUrl: { operation: 'convert', input: 'url', output_format: 'jpg' },
      fromBucket: { operation: 'convert', input: 'bucket', output_format: 'jpg' },
      fromServer: { operation: 'convert', input: 'server', output_format: 'jpg' },
      toBucket: {
        operation: 'export/objstore_a',
        input: ['fromUrl', 'fromBucket', 'fromServer'],
        ...objstore(),
        key_prefix: 'out/',
      },
      toServer: { operation: 'export/sftp', input: 'fromUrl', ...sftp(), file_string: join(sshd.folder, 'new/c.jpg') },
      links: { operation: 'export/url', input: 'toBucket' },
    });

    const exported = filesOf(job, 'toBucket').map(({ filename }) => filename);
    expect(exported).toEqual(['c.jpg', 'a.jpg', 'b.jpg']);
    expect(taskOf(job, 'toBucket').result).toMatchObject({
      locations: exported.map((name) => ({ filename: name, location: `s3://customer/out/${name}` })),
    });
    for (const name of exported) {
      const head = await store.client.send(new HeadObjectCommand({ Bucket: store.bucket, Key: `out/${name}` }));
      expect(head.ContentType).toBe('image/jpeg');
    }
    const [link] = filesOf(job, 'links');
    const { Body } = await store.client.send(new GetObjectCommand({ Bucket: store.bucket, Key: 'out/c.jpg' }));
    const stored = Buffer.from((await Body?.transformToByteArray()) ?? []);
    expect(stored.equals(await readFile(join(sshd.folder, 'new/c.jpg')))).toBe(true);
    expect(stored.equals(await download(link?.url ?? ''))).toBe(true);
  });

  it('imports every object under a prefix as the files of one task: convert makes as many, merge takes them in order', async () => {
    for (const [index, width] of [10, 20, 30].entries())
      await store.client.send(
        new PutObjectCommand({ Bucket: store.bucket, Key: `pages/${index}.png`, Body: await twoHalves(width, 10) }),
      );
    const job = await service.client.runJob({
      pages: { operation: 'import/objstore_a', ...objstore(), key_prefix: 'pages/' },
      each: { operation: 'convert', input: 'pages', output_format: 'webp' },
      book: { operation: 'merge', input: 'pages', output_format: 'pdf' },
    });
    expect(filesOf(job, 'pages').map(({ filename }) => filename)).toEqual(['0.png', '1.png', '2.png']);
    expect(filesOf(job, 'each').map(({ filename }) => filename)).toEqual(['0.webp', '1.webp', '2.webp']);
    const [book] = filesOf(job, 'book');
    const pages = (await PDFDocument.load(await download(book?.url ?? ''))).getPages();
    const ratios = pages.map((page) => page.getWidth() / page.getHeight());
    expect(ratios.map(Math.round)).toEqual([1, 2, 3]);
  });

  it('publishes the progress of a transfer that takes longer than a second', async () => {
    const half = Buffer.alloc(400_000);
    const [followed, published] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using server = await startFileServer(async (_request, response) => {
      await followed.promise;
      response.writeHead(200, { 'content-length': 2 * half.length }).write(half);
      await published.promise;
      response.end(half);
    });
    const { id } = await service.client.createTask('import/url', { url: `${server.url}/a.bin` });
    const subscriber = new PlainSubscriber(service);
    try {
      subscriber.subscribe(`task.${id}`);
      // The current state, which comes with a subscription, must not be what shows the progress.
      await untilSubscribed(subscriber, `task.${id}`);
      followed.resolve();
      await until(
        'half of the file is published as received',
        () =>
          subscriber.messages.some(({ event, data }) => event === 'task_updated' && data.progress === 50) || undefined,
        { seconds: 30 },
      );
      published.resolve();
      expect(await service.client.waitForTask(id)).toMatchObject({ status: 'completed', progress: 100 });
    } finally {
      subscriber.close();
    }
  });

  it('says what is wrong in the codes of the specification', async () => {
    await using server = await startFileServer((_request, response) => response.end(Buffer.alloc(2_000_000)));
    const job = await service.client.createJob({
      credentials: { operation: 'import/objstore_a', ...objstore(), secret_access_key: 'wrong', key: 'k' },
      permission: { operation: 'import/objstore_a', ...objstore(), ...store.powerless, key: 'k' },
      missing: { operation: 'import/sftp', ...sftp(), file_string: '/nowhere' },
      large: { operation: 'import/url', url: server.url },
      refused: { operation: 'import/url', url: 'http://169.254.169.254/latest/meta-data/' },
    });
    const ended = await service.client.waitForJob(job.id);
    const failures = Object.fromEntries(ended.tasks.map(({ name, result }) => [name, result]));
    expect(failures).toMatchObject({
      credentials: { errorCode: 'invalid_credentials' },
      permission: { errorCode: 'insufficient_permission' },
      missing: { errorCode: 'processing_failed', msg: expect.stringContaining('There is no "/nowhere"') },
      large: { errorCode: 'processing_failed', msg: expect.stringContaining('larger than 1000000 bytes') },
      refused: { errorCode: 'processing_failed', msg: expect.stringContaining('is not a public address') },
    });
  });

  it('keeps no secret in a response, a record, a queue, a log or the bucket once the task has ended', async () => {
    const secrets = [
      's3cr3t-header-4711',
      's3cr3t-password-4712',
      's3cr3t-key-4713',
      's3cr3t-id-4714',
      's3cr3t-token-4715',
      's3cr3t-user-4716',
    ];
    const [header = '', password = '', secret = '', id = '', token = '', user = ''] = secrets;
    await using server = await startFileServer((_request, response) => response.writeHead(401).end());
    const job = await service.client.createJob({
      url: { operation: 'import/url', url: server.url, headers: { authorization: `Bearer ${header}` } },
      server: {
        operation: 'import/sftp',
        host: '127.0.0.1',
        port: sshd.port,
        username: user,
        password,
        file_string: '/x',
      },
      bucket: {
        operation: 'import/objstore_a',
        ...objstore(),
        access_key_id: id,
        secret_access_key: secret,
        session_token: token,
        key: 'k',
      },
    });
    const ended = await service.client.waitForJob(job.id);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${header}`);
    expect(ended.tasks.map(({ result }) => result.errorCode)).toEqual(Array(3).fill('invalid_credentials'));
    expect(secrets.filter((one) => JSON.stringify([job, ended]).includes(one))).toEqual([]);
    expect(taskOf(ended, 'server').payload).toMatchObject({ username: '********', password: '********' });
    // The end is recorded before its consequences are carried out.
    await until(
      'the secrets are gone from the disk',
      async () => {
        const found = await secretsIn(service.dataDirectory, secrets);
        return found.length === 0 ? true : undefined;
      },
      { seconds: 20, everyMs: 200 },
    );
    expect(secrets.filter((one) => service.reports.join('').includes(one))).toEqual([]);
  });
});

describe('The service with a stand-in for Azure', () => {
  let azure: AzureStore;

  beforeAll(async () => {
    azure = await startAzurite();
  });
  afterAll(() => azure[Symbol.asyncDispose]());

  it('imports a blob and exports it again', async () => {
    await using stack = await startAlteredStack(
      (altered) => {
        const { environment } = functionOf(altered, 'functions/transfers/handler.ts');
        environment.LATHE_STANDIN_AZURE = `http://127.0.0.1:${azure.port}`;
      },
      { LATHE_ALLOW_HOSTS: '127.0.0.1' },
    );
    const container = azure.service.getContainerClient(azure.container);
    await container.getBlockBlobClient('in.txt').uploadData(Buffer.from('through Azure'));
    const account = { storage_account: azure.account, container: azure.container, storage_access_key: azure.key };
    await stack.client.runJob(
      {
        in: { operation: 'import/blobstore', ...account, blob: 'in.txt' },
        out: { operation: 'export/blobstore', ...account, input: 'in', blob: 'out.txt' },
      },
      { seconds: 250 },
    );
    expect((await container.getBlobClient('out.txt').downloadToBuffer()).toString()).toBe('through Azure');
  }, 300_000);
});

async function secretsIn(folder: string, secrets: string[]): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    // Databases remove files of theirs at any time.
    const content = await readFile(path).catch(() => Buffer.alloc(0));
    for (const secret of secrets) if (content.includes(secret)) found.push(`${path}: ${secret}`);
  }
  return found;
}
