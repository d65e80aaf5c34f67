import { GetObjectCommand, HeadObjectCommand, type HeadObjectCommandOutput } from '@aws-sdk/client-s3';
import { bucket } from '../../shared/aws/bucket.ts';
import { isMissing, type ObjectVersion, statusOf } from '../../shared/aws/objects.ts';

/** A version of a posted file. */
export interface PostedFile extends ObjectVersion {
  metadata: Record<string, string>;
  start: Uint8Array;
}

/** Reads the metadata and the first bytes of one version of a posted file; undefined if there is none. */
export async function readPosted(key: string, startBytes: number): Promise<PostedFile | undefined> {
  const { client, name } = bucket();
  const target = { Bucket: name, Key: key };
  try {
    const found = await client.send(new GetObjectCommand({ ...target, Range: `bytes=0-${startBytes - 1}` }));
    const start = (await found.Body?.transformToByteArray()) ?? new Uint8Array();
    const size = Number(found.ContentRange?.split('/').at(-1) ?? found.ContentLength ?? 0);
    return posted(key, found, size, start);
  } catch (error) {
    if (await isMissing(key, error)) return undefined;
    // An empty object has no range.
    if (statusOf(error) !== 416) throw error;
  }
  try {
    const empty = await client.send(new HeadObjectCommand(target));
    // Another file was posted meanwhile, and is not empty.
    if (empty.ContentLength !== 0) return readPosted(key, startBytes);
    return posted(key, empty, 0, new Uint8Array());
  } catch (error) {
    if (await isMissing(key, error)) return undefined;
    throw error;
  }
}

function posted(key: string, found: HeadObjectCommandOutput, size: number, start: Uint8Array): PostedFile {
  const { ETag: etag, Metadata: metadata = {} } = found;
  if (!etag) throw new Error(`S3 responded without an ETag for ${key}.`);
  return { key, etag, size, metadata, start };
}
