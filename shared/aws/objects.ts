import { randomBytes } from 'node:crypto';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { taskOfKey, taskPrefix, uploadKey } from '../files/keys.ts';
import type { Task } from '../tasks/task.ts';
import { chunksOf } from './batches.ts';
import { bucket } from './bucket.ts';

/** What DeleteObjects takes in one request. */
const maxKeysPerDelete = 1_000;

/** Makes the unguessable part of a download link. */
export function newToken(): string {
  return randomBytes(18).toString('base64url');
}

/** Stores a small body that is in memory. */
export async function putObject(key: string, body: Uint8Array, mediaType: string): Promise<void> {
  const { client, name } = bucket();
  await client.send(new PutObjectCommand({ Bucket: name, Key: key, Body: body, ContentType: mediaType }));
}

/** Returns the size of an object; throws where there is none. */
export async function sizeOfObject(key: string): Promise<number> {
  const { client, name } = bucket();
  const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket: name, Key: key }));
  if (ContentLength === undefined) throw new Error(`S3 responded without the size of ${key}.`);
  return ContentLength;
}

/** Copies an object of up to 5 GB within the bucket. */
export async function copyObject(from: string, key: string, signal?: AbortSignal): Promise<void> {
  const { client, name } = bucket();
  const CopySource = `${name}/${encodeURIComponent(from)}`;
  await client.send(
    new CopyObjectCommand({ Bucket: name, Key: key, CopySource }),
    signal ? { abortSignal: signal } : {},
  );
}

/** Deletes one object; one that does not exist is no failure. */
export async function deleteObject(key: string): Promise<void> {
  const { client, name } = bucket();
  await client.send(new DeleteObjectCommand({ Bucket: name, Key: key }));
}

/** Deletes all files of a task, and what was posted to its form, except the keys to keep. */
export async function deleteFiles(
  { id, operation }: Pick<Task, 'id' | 'operation'>,
  keep: (key: string) => boolean = () => false,
): Promise<void> {
  const { client, name } = bucket();
  for (const prefix of [...(operation === 'import/upload' ? [uploadKey(id)] : []), taskPrefix(id)]) {
    for (let token: string | undefined; ; ) {
      const page = await client.send(
        new ListObjectsV2Command({ Bucket: name, Prefix: prefix, ContinuationToken: token }),
      );
      await deleteKeys((page.Contents ?? []).flatMap(({ Key }) => (Key && !keep(Key) ? [Key] : [])));
      token = page.NextContinuationToken;
      if (!page.IsTruncated || token === undefined) break;
    }
  }
}

/** Deletes the files under a prefix whose task was created before that id's time, oldest first, and returns how many. */
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

async function deleteKeys(keys: string[]): Promise<void> {
  const { client, name } = bucket();
  for (const batch of chunksOf(keys, maxKeysPerDelete)) {
    const { Errors = [] } = await client.send(
      new DeleteObjectsCommand({ Bucket: name, Delete: { Objects: batch.map((Key) => ({ Key })), Quiet: true } }),
    );
    const [first] = Errors;
    if (first)
      throw new Error(`S3 did not delete ${Errors.length} of ${batch.length} files: ${first.Code} ${first.Message}`);
  }
}
