import { randomBytes } from 'node:crypto';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  paginateListObjectsV2,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { defined } from '../defined.ts';
import { taskOfKey, taskPrefix, uploadKey } from '../files/keys.ts';
import type { Task } from '../tasks/task.ts';
import { chunksOf } from './batches.ts';
import { bucket } from './bucket.ts';

/** Maximum keys of a DeleteObjects request. */
const maxKeysPerDelete = 1_000;

/** Makes the unguessable part of a download link. */
export function newToken(): string {
  return randomBytes(18).toString('base64url');
}

/** Stores a small body from memory. */
export async function putObject(key: string, body: Uint8Array | string, mediaType: string): Promise<void> {
  const { client, name } = bucket();
  await client.send(new PutObjectCommand({ Bucket: name, Key: key, Body: body, ContentType: mediaType }));
}

/** Reads a small object into memory. */
export async function readObject(key: string): Promise<Uint8Array> {
  const { client, name } = bucket();
  const { Body } = await client.send(new GetObjectCommand({ Bucket: name, Key: key }));
  if (!Body) throw new Error(`S3 responded without a body for ${key}.`);
  return Body.transformToByteArray();
}

/** An object as of when it was read. */
export interface ObjectVersion {
  key: string;
  /** Identifies this content among others stored under the same key. */
  etag: string;
  size: number;
}

/** Reads the size and the tag of an object; undefined if there is none. */
export async function readVersion(key: string, signal?: AbortSignal): Promise<ObjectVersion | undefined> {
  const { client, name } = bucket();
  try {
    const head = await client.send(new HeadObjectCommand({ Bucket: name, Key: key }), defined({ abortSignal: signal }));
    const { ETag: etag, ContentLength: size } = head;
    if (etag === undefined || size === undefined) throw new Error(`S3 responded without the size or tag of ${key}.`);
    return { key, etag, size };
  } catch (error) {
    if (await isMissing(key, error)) return undefined;
    throw error;
  }
}

/** Copies an object of up to 5 GB within the bucket. */
export async function copyObject(from: string, key: string, signal?: AbortSignal): Promise<void> {
  const { client, name } = bucket();
  const CopySource = `${name}/${encodeURIComponent(from)}`;
  await client.send(new CopyObjectCommand({ Bucket: name, Key: key, CopySource }), defined({ abortSignal: signal }));
}

/** Copies an object of up to 5 GB as it was read, without its metadata; returns false if it has since changed. */
export async function copyVersion(
  { key: from, etag }: Pick<ObjectVersion, 'key' | 'etag'>,
  key: string,
  mediaType: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const { client, name } = bucket();
  const command = new CopyObjectCommand({
    Bucket: name,
    Key: key,
    CopySource: `${name}/${encodeURIComponent(from)}`,
    CopySourceIfMatch: etag,
    MetadataDirective: 'REPLACE',
    ContentType: mediaType,
  });
  try {
    await client.send(command, defined({ abortSignal: signal }));
    return true;
  } catch (error) {
    if (statusOf(error) === 412 || (await isMissing(from, error))) return false;
    throw error;
  }
}

/** Returns whether an object is missing after an error. S3 reports that only to roles that may list the bucket. */
export async function isMissing(key: string, error: unknown): Promise<boolean> {
  if (statusOf(error) === 404) return true;
  return statusOf(error) === 403 && !(await objectExists(key));
}

/** Returns whether there is an object under a key, for roles that may list its prefix. */
export async function objectExists(key: string): Promise<boolean> {
  const { client, name } = bucket();
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: name, Prefix: key, MaxKeys: 1 }));
  return Contents[0]?.Key === key;
}

/** Returns the HTTP status of an S3 error. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** Reads the first bytes of an object; undefined if there is none. */
export async function readStart(key: string, maxBytes: number): Promise<Uint8Array | undefined> {
  const { client, name } = bucket();
  try {
    const range = { Bucket: name, Key: key, Range: `bytes=0-${maxBytes - 1}` };
    return await (await client.send(new GetObjectCommand(range))).Body?.transformToByteArray();
  } catch (error) {
    if (await isMissing(key, error)) return undefined;
    throw error;
  }
}

/** Deletes an object, if it exists. */
export async function deleteObject(key: string): Promise<void> {
  const { client, name } = bucket();
  await client.send(new DeleteObjectCommand({ Bucket: name, Key: key }));
}

/** Deletes the files of a task and the uploads to its form, except the keys to keep. */
export async function deleteFiles(
  { id, operation }: Pick<Task, 'id' | 'operation'>,
  keep: (key: string) => boolean = () => false,
): Promise<void> {
  const { client, name } = bucket();
  for (const prefix of [...(operation === 'import/upload' ? [uploadKey(id)] : []), taskPrefix(id)]) {
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: name, Prefix: prefix }))
      await deleteKeys(Contents.flatMap(({ Key }) => (Key && !keep(Key) ? [Key] : [])));
  }
}

/** Deletes the files under a prefix whose tasks are older than an id, oldest first, and returns how many. */
export async function deleteFilesBefore(prefix: string, firstIdToKeep: string): Promise<number> {
  const { client, name } = bucket();
  for (let deleted = 0; ; ) {
    const { Contents, IsTruncated } = await client.send(new ListObjectsV2Command({ Bucket: name, Prefix: prefix }));
    const keys = (Contents ?? []).flatMap(({ Key }) => (Key ? [Key] : []));
    const old = keys.filter((key) => (taskOfKey(key) ?? firstIdToKeep) < firstIdToKeep);
    await deleteKeys(old);
    deleted += old.length;
    if (!IsTruncated || old.length < keys.length) return deleted;
  }
}

/** Deletes objects, ignoring those that do not exist. */
export async function deleteKeys(keys: string[]): Promise<void> {
  const { client, name } = bucket();
  const [only] = keys;
  // S3 does not charge for a DELETE; a batch is a POST.
  if (only !== undefined && keys.length === 1) return deleteObject(only);
  for (const batch of chunksOf(keys, maxKeysPerDelete)) {
    const { Errors = [] } = await client.send(
      new DeleteObjectsCommand({ Bucket: name, Delete: { Objects: batch.map((Key) => ({ Key })), Quiet: true } }),
    );
    const [first] = Errors;
    if (first)
      throw new Error(`S3 did not delete ${Errors.length} of ${batch.length} files: ${first.Code} ${first.Message}`);
  }
}
