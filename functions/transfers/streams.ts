import { Readable } from 'node:stream';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { bucket } from '../../shared/aws/bucket.ts';
import { copyObject } from '../../shared/aws/objects.ts';
import type { StoredFile } from '../../shared/tasks/task.ts';
import { multipartUpload } from './multipart.ts';
import { storeInParts } from './parts.ts';

/** The limit of a copy in one request; larger files are streamed through the function in parts. */
const maxCopyBytes = 5_000_000_000;

/** The minimum part size of S3. With at most 10,000 parts it allows 50 GB, and a few parts fit a small function. */
const partBytes = 5 * 1024 * 1024;

/** Copies a stored file to another key of the bucket. */
export async function copyFile(file: StoredFile, key: string, signal: AbortSignal): Promise<void> {
  if (file.size <= maxCopyBytes) return copyObject(file.key, key, signal);
  await storeStream(await streamObject(file.key, signal), key, file.mediaType, signal);
}

/** Opens an object as a stream, from an offset and up to an end if given. */
export async function streamObject(key: string, signal: AbortSignal, offset = 0, end?: number): Promise<Readable> {
  const { client, name } = bucket();
  const { Body } = await client.send(
    new GetObjectCommand({
      Bucket: name,
      Key: key,
      ...(offset > 0 || end !== undefined ? { Range: `bytes=${offset}-${end === undefined ? '' : end - 1}` } : {}),
    }),
    { abortSignal: signal },
  );
  if (!(Body instanceof Readable)) throw new Error(`S3 responded without a body for ${key}.`);
  return Body;
}

/** Stores a stream in parts, with only a few in memory, and returns its size. */
export async function storeStream(
  stream: Readable,
  key: string,
  mediaType: string,
  signal: AbortSignal,
  partsAtOnce = 4,
): Promise<number> {
  const { client, name } = bucket();
  const upload = multipartUpload(client, { Bucket: name, Key: key, ContentType: mediaType }, signal);
  try {
    return await storeInParts(upload, stream, { partBytes, partsAtOnce, signal });
  } finally {
    stream.destroy();
  }
}
