import { Readable } from 'node:stream';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { bucket } from '../../shared/aws/bucket.ts';
import { partBytesFor } from '../../shared/files/limits.ts';
import { multipartUpload } from './multipart.ts';
import { storeInParts } from './parts.ts';

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

/** Stores a stream of up to a size in parts, with only a few in memory, and returns its size. */
export async function storeStream(
  stream: Readable,
  key: string,
  mediaType: string,
  { maxBytes, signal, partsAtOnce = 4 }: { maxBytes: number; signal: AbortSignal; partsAtOnce?: number | undefined },
): Promise<number> {
  const { client, name } = bucket();
  const upload = multipartUpload(client, { Bucket: name, Key: key, ContentType: mediaType }, signal);
  try {
    return await storeInParts(upload, stream, { partBytes: partBytesFor(maxBytes), partsAtOnce, signal });
  } finally {
    stream.destroy();
  }
}
