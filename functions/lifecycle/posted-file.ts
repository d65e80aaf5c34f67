import {
  CopyObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { bucket } from '../../shared/aws/bucket.ts';

/** A posted file as it was when it was read. */
export interface PostedFile {
  key: string;
  /** Distinguishes this content from whatever is posted in its place later. */
  etag: string;
  size: number;
  metadata: Record<string, string>;
  start: Uint8Array;
}

/** Reads the metadata of a posted file together with its first bytes, all of one version; undefined where there is none. */
export async function readPosted(key: string, startBytes: number): Promise<PostedFile | undefined> {
  const { client, name } = bucket();
  const target = { Bucket: name, Key: key };
  try {
    const found = await client.send(new GetObjectCommand({ ...target, Range: `bytes=0-${startBytes - 1}` }));
    const start = (await found.Body?.transformToByteArray()) ?? new Uint8Array();
    return posted(key, found, sizeOf(found), start);
  } catch (error) {
    if (await isMissing(key, error)) return undefined;
    // An empty object has no range.
    if (statusOf(error) !== 416) throw error;
  }
  try {
    const head = await client.send(new HeadObjectCommand(target));
    // Something was posted meanwhile, which has a start.
    if (head.ContentLength !== 0) return readPosted(key, startBytes);
    return posted(key, head, 0, new Uint8Array());
  } catch (error) {
    if (await isMissing(key, error)) return undefined;
    throw error;
  }
}

/** Copies a posted file as it was read; returns false where it has been replaced or deleted since. */
export async function copyPosted(file: PostedFile, key: string, mediaType: string): Promise<boolean> {
  const { client, name } = bucket();
  try {
    await client.send(
      new CopyObjectCommand({
        Bucket: name,
        Key: key,
        CopySource: `${name}/${encodeURIComponent(file.key)}`,
        CopySourceIfMatch: file.etag,
        MetadataDirective: 'REPLACE',
        ContentType: mediaType,
      }),
    );
    return true;
  } catch (error) {
    if (statusOf(error) === 412 || (await isMissing(file.key, error))) return false;
    throw error;
  }
}

interface Found {
  ETag?: string | undefined;
  Metadata?: Record<string, string> | undefined;
}

function posted(key: string, { ETag, Metadata }: Found, size: number, start: Uint8Array): PostedFile {
  if (!ETag) throw new Error(`S3 responded without an ETag for ${key}.`);
  return { key, etag: ETag, size, metadata: Metadata ?? {}, start };
}

function sizeOf({
  ContentRange,
  ContentLength,
}: {
  ContentRange?: string | undefined;
  ContentLength?: number | undefined;
}) {
  return Number(ContentRange?.split('/').at(-1) ?? ContentLength ?? 0);
}

/** Tells whether a request failed because there is no object, which S3 tells only those who may list the whole bucket. */
async function isMissing(key: string, error: unknown): Promise<boolean> {
  if (statusOf(error) === 404) return true;
  return statusOf(error) === 403 && !(await isPosted(key));
}

/** Returns whether a file was posted under a key. */
export async function isPosted(key: string): Promise<boolean> {
  const { client, name } = bucket();
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: name, Prefix: key, MaxKeys: 1 }));
  return Contents[0]?.Key === key;
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}
