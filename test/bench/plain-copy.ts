import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CopyObjectCommand, GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { Assignment } from './transfer-worker.ts';

/** Copies with the tool or library of the protocol, as its manual shows, between the same store and bucket. */
export async function copyPlainly({ operation, parameters, inputs, scratch, ssh }: Assignment): Promise<void> {
  const text = (name: string) => String(parameters[name]);
  const [input = { key: '', name: '' }] = inputs;
  switch (operation) {
    case 'import/url':
      return store(started('curl', ['-sf', text('url')]));
    case 'import/objstore_a':
      return store(await read(customer(), text('bucket'), text('key')));
    case 'export/objstore_a':
      return upload(customer(), text('bucket'), `${text('key')}-bare`, await readOwn(input.key));
    case 'import/objstore_b':
      return store((await gcsBucket()).file(text('file')).createReadStream());
    case 'export/objstore_b':
      return pipeline(await readOwn(input.key), (await gcsBucket()).file(`${text('file')}-bare`).createWriteStream());
    case 'import/blobstore': {
      const { readableStreamBody } = await (await container()).getBlobClient(text('blob')).download();
      if (!(readableStreamBody instanceof Readable)) throw new Error('Azurite responded without the blob.');
      return store(readableStreamBody);
    }
    case 'export/blobstore':
      await (await container()).getBlockBlobClient(`${text('blob')}-bare`).uploadStream(await readOwn(input.key));
      return;
    // OpenSSH's client only works on files.
    case 'import/sftp':
      await sftp(ssh, `get ${text('file_string')} ${scratch}`);
      await store(createReadStream(scratch));
      return rm(scratch);
    case 'export/sftp':
      await pipeline(await readOwn(input.key), createWriteStream(scratch));
      await sftp(ssh, `put ${scratch} ${text('file_string')}-bare`);
      return rm(scratch);
    case 'export/url':
      if (parameters.archive_multiple_files !== true)
        return void (await new S3Client({}).send(
          new CopyObjectCommand({ Bucket: ownBucket(), Key: 'files/bare', CopySource: `${ownBucket()}/${input.key}` }),
        ));
      await mkdir(scratch);
      for (const { key, name } of inputs) await pipeline(await readOwn(key), createWriteStream(join(scratch, name)));
      await store(started('zip', ['-q', '-', ...inputs.map(({ name }) => name)], scratch));
      return rm(scratch, { recursive: true });
    default:
      throw new Error(`${operation} is not measured.`);
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

function ownBucket(): string {
  return process.env.LATHE_BUCKET ?? '';
}

function store(content: Readable): Promise<void> {
  return upload(new S3Client({}), ownBucket(), 'files/bare', content);
}

function readOwn(key: string): Promise<Readable> {
  return read(new S3Client({}), ownBucket(), key);
}

async function read(client: S3Client, bucket: string, key: string): Promise<Readable> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  if (!(Body instanceof Readable)) throw new Error('The store responded without the object.');
  return Body;
}

async function upload(client: S3Client, Bucket: string, Key: string, Body: Readable): Promise<void> {
  await new Upload({ client, params: { Bucket, Key, Body } }).done();
}

/** Starts a program and returns its output; a failure breaks the stream. */
function started(program: string, args: string[], cwd = '.'): Readable {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  child.once('exit', (code) => code !== 0 && child.stdout.destroy(new Error(`${program} ended with ${code}.`)));
  return child.stdout;
}

async function sftp(ssh: Assignment['ssh'], command: string): Promise<void> {
  const options = [
    ...['-q', '-b', '-', '-P', String(ssh.port), '-i', ssh.keyFile],
    ...['-oStrictHostKeyChecking=no', '-oUserKnownHostsFile=/dev/null', '-oLogLevel=ERROR'],
  ];
  const child = spawn('sftp', [...options, `${ssh.username}@127.0.0.1`], { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(`${command}\n`);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`sftp ended with ${code}.`);
}
