import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { Conduct } from '../../functions/engines/transfer/receive.ts';
import type { Run } from '../../functions/engines/worker.ts';
import type { JsonObject, StoredFile } from '../../shared/tasks/task.ts';
import { makeConduct, makeRun, makeTask } from '../transfer/run.ts';

/** What one process is to do: an operation of the service, or the same with the plain tool of the protocol. */
export interface Assignment {
  operation: string;
  bare: boolean;
  parameters: JsonObject;
  /** The file to export. */
  input?: StoredFile;
  /** A place on the disk for tools that cannot pipe. */
  scratch: string;
  /** How to reach the SFTP server by OpenSSH's client. */
  ssh?: { port: number; keyFile: string; username: string };
}

function peakMegabytes(): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024;
}

type Transfer = (run: Run, conduct: Conduct) => Promise<unknown>;

/** Loads the one module that an operation needs, as the function does, before the clock starts. */
const transfers: Record<string, () => Promise<Transfer>> = {
  'import/url': async () => (await import('../../functions/engines/transfer/import-url.ts')).importUrl,
  'import/objstore_a': async () => (await import('../../functions/engines/transfer/objstore-a.ts')).importObjstoreA,
  'export/objstore_a': async () => (await import('../../functions/engines/transfer/objstore-a.ts')).exportObjstoreA,
  'import/objstore_b': async () => (await import('../../functions/engines/transfer/objstore-b.ts')).importObjstoreB,
  'export/objstore_b': async () => (await import('../../functions/engines/transfer/objstore-b.ts')).exportObjstoreB,
  'import/blobstore': async () => (await import('../../functions/engines/transfer/blobstore.ts')).importBlobstore,
  'export/blobstore': async () => (await import('../../functions/engines/transfer/blobstore.ts')).exportBlobstore,
  'import/sftp': async () => (await import('../../functions/engines/transfer/sftp.ts')).importSftp,
  'export/sftp': async () => (await import('../../functions/engines/transfer/sftp.ts')).exportSftp,
};

async function loadTransfer({ operation, parameters, input }: Assignment): Promise<() => Promise<unknown>> {
  const transfer = await transfers[operation]?.();
  if (!transfer) throw new Error(`${operation} is not measured.`);
  const inputs = input ? [{ ...makeTask('import/upload', {}), files: [input] }] : [];
  const conduct = makeConduct({
    maxFileBytes: 5_000_000_000,
    patience: { tries: 3, backOffMs: 100, stallMs: 60_000 },
  });
  return () => transfer(makeRun(operation, parameters, inputs), conduct);
}

/** Copies with the tool or library of the protocol as its manual shows, between the store and the bucket of the service. */
async function copyPlainly({ operation, parameters, input, scratch, ssh }: Assignment): Promise<void> {
  const text = (name: string) => String(parameters[name]);
  switch (operation) {
    case 'import/url': {
      const curl = spawn('curl', ['-sf', text('url')], { stdio: ['ignore', 'pipe', 'inherit'] });
      return upload(ownClient(), ownBucket(), 'files/bare', curl.stdout);
    }
    case 'import/objstore_a':
      return upload(ownClient(), ownBucket(), 'files/bare', await read(customer(), text('bucket'), text('key')));
    case 'export/objstore_a':
      return upload(
        customer(),
        text('bucket'),
        `${text('key')}-bare`,
        await read(ownClient(), ownBucket(), input?.key ?? ''),
      );
    case 'import/objstore_b':
      return upload(ownClient(), ownBucket(), 'files/bare', (await gcsBucket()).file(text('file')).createReadStream());
    case 'export/objstore_b': {
      const target = (await gcsBucket())
        .file(`${text('file')}-bare`)
        .createWriteStream({ resumable: true, chunkSize: 8 * 1024 ** 2 });
      return pipeline(await read(ownClient(), ownBucket(), input?.key ?? ''), target);
    }
    case 'import/blobstore': {
      const { readableStreamBody } = await (await container()).getBlobClient(text('blob')).download();
      if (!(readableStreamBody instanceof Readable)) throw new Error('Azurite answered without the blob.');
      return upload(ownClient(), ownBucket(), 'files/bare', readableStreamBody);
    }
    case 'export/blobstore': {
      const source = await read(ownClient(), ownBucket(), input?.key ?? '');
      await (await container()).getBlockBlobClient(`${text('blob')}-bare`).uploadStream(source, 4 * 1024 ** 2, 4);
      return;
    }
    case 'import/sftp':
      await sftp(ssh, `get ${text('file_string')} ${scratch}`);
      await upload(ownClient(), ownBucket(), 'files/bare', createReadStream(scratch));
      return rm(scratch);
    case 'export/sftp':
      await pipeline(await read(ownClient(), ownBucket(), input?.key ?? ''), createWriteStream(scratch));
      await sftp(ssh, `put ${scratch} ${text('file_string')}-bare`);
      return rm(scratch);
    default:
      throw new Error(`${operation} is not measured.`);
  }

  function ownBucket() {
    return process.env.LATHE_BUCKET ?? '';
  }

  function ownClient() {
    return new S3Client({});
  }

  function customer() {
    return new S3Client({
      endpoint: text('endpoint'),
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: {
        accessKeyId: text('access_key_id'),
        secretAccessKey: text('secret_access_key'),
        sessionToken: text('session_token'),
      },
    });
  }

  async function gcsBucket() {
    const { Storage } = await import('@google-cloud/storage');
    return new Storage({ projectId: 'project', apiEndpoint: process.env.LATHE_STANDIN_GCS ?? '' }).bucket(
      text('bucket'),
    );
  }

  async function container() {
    const { BlobServiceClient, StorageSharedKeyCredential } = await import('@azure/storage-blob');
    const account = text('storage_account');
    return new BlobServiceClient(
      `${process.env.LATHE_STANDIN_AZURE}/${account}`,
      new StorageSharedKeyCredential(account, text('storage_access_key')),
    ).getContainerClient(text('container'));
  }
}

async function read(client: S3Client, bucket: string, key: string): Promise<Readable> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  if (!(Body instanceof Readable)) throw new Error('The store answered without the object.');
  return Body;
}

async function upload(client: S3Client, Bucket: string, Key: string, Body: Readable): Promise<void> {
  await new Upload({ client, params: { Bucket, Key, Body }, partSize: 5 * 1024 ** 2, queueSize: 4 }).done();
}

async function sftp(ssh: Assignment['ssh'], command: string): Promise<void> {
  if (!ssh) throw new Error('There is no SFTP server.');
  const options = [
    '-q',
    '-b',
    '-',
    '-P',
    String(ssh.port),
    '-i',
    ssh.keyFile,
    '-oStrictHostKeyChecking=no',
    '-oUserKnownHostsFile=/dev/null',
  ];
  const child = spawn('sftp', [...options, `${ssh.username}@127.0.0.1`], { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(`${command}\n`);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`sftp ended with ${code}.`);
}

const assignment: Assignment = JSON.parse(process.argv[2] ?? '{}');
const work = assignment.bare ? () => copyPlainly(assignment) : await loadTransfer(assignment);
const started = process.hrtime.bigint();
await work();
const seconds = Number(process.hrtime.bigint() - started) / 1e9;
process.stdout.write(`${JSON.stringify({ seconds, peakMegabytes: peakMegabytes() })}\n`);
process.exit(0);
