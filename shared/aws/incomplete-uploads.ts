import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  NoSuchUpload,
} from '@aws-sdk/client-s3';
import { defined } from '../defined.ts';
import type { PartsUpload } from '../tasks/task.ts';
import { bucket } from './bucket.ts';

/** Aborts an upload in parts and deletes what it has stored, unless it was completed or aborted before. */
export async function abortParts({ key, id }: Pick<PartsUpload, 'key' | 'id'>): Promise<void> {
  const { client, name } = bucket();
  try {
    await client.send(new AbortMultipartUploadCommand({ Bucket: name, Key: key, UploadId: id }));
  } catch (error) {
    if (!(error instanceof NoSuchUpload)) throw error;
  }
}

/** An upload in parts that was neither completed nor aborted. */
export interface IncompleteUpload {
  key: string;
  id: string;
  /** In milliseconds. */
  startedAt: number;
}

/** Lists the incomplete uploads of the bucket. */
export async function listIncompleteUploads(): Promise<IncompleteUpload[]> {
  const { client, name } = bucket();
  const found: IncompleteUpload[] = [];
  let next: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
  while (next) {
    const page: ListMultipartUploadsCommandOutput = await client.send(
      new ListMultipartUploadsCommand({ Bucket: name, ...next }),
    );
    for (const { Key: key, UploadId: id, Initiated } of page.Uploads ?? [])
      if (key !== undefined && id !== undefined) found.push({ key, id, startedAt: Initiated?.getTime() ?? 0 });
    const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
    next = IsTruncated ? defined({ KeyMarker, UploadIdMarker }) : undefined;
  }
  return found;
}
