import { Readable } from 'node:stream';
import { CopyObjectCommand, GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { StoredFile } from '../tasks/task.ts';
import { bucket } from './bucket.ts';

/** What S3 copies in one request; larger files go through the function in parts. */
const largestCopyBytes = 5_000_000_000;

/** Copies a stored file to another key of the bucket. */
export async function copyObject(file: StoredFile, key: string, signal: AbortSignal): Promise<void> {
  const { client, name } = bucket();
  if (file.size > largestCopyBytes) {
    await storeStream(await streamObject(file.key, signal), key, file.mediaType, signal);
    return;
  }
  const command = new CopyObjectCommand({
    Bucket: name,
    Key: key,
    CopySource: `${name}/${encodeURIComponent(file.key)}`,
  });
  await client.send(command, { abortSignal: signal });
}

/** Opens an object as a stream. */
export async function streamObject(key: string, signal: AbortSignal): Promise<Readable> {
  const { client, name } = bucket();
  const { Body } = await client.send(new GetObjectCommand({ Bucket: name, Key: key }), { abortSignal: signal });
  if (!(Body instanceof Readable)) throw new Error(`S3 answered without a body for ${key}.`);
  return Body;
}

/** Stores a stream in parts, never more than a few of them in memory, and returns its size. */
export async function storeStream(
  stream: Readable,
  key: string,
  mediaType: string,
  signal: AbortSignal,
): Promise<number> {
  const { client, name } = bucket();
  const upload = new Upload({
    client,
    params: { Bucket: name, Key: key, Body: stream, ContentType: mediaType },
    partSize: 16 * 1024 * 1024,
  });
  const abort = () => void upload.abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await upload.done();
  } finally {
    signal.removeEventListener('abort', abort);
  }
  const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket: name, Key: key }));
  return ContentLength ?? 0;
}
