import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListPartsCommand,
  type ListPartsCommandOutput,
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

/** A part as S3 stored it. */
export interface StoredPart {
  PartNumber: number;
  Size: number;
  /** Without quotes. */
  ETag: string;
}

/** Lists the parts of an upload; undefined if it was completed or aborted. */
export async function listStoredParts({ key, id }: Pick<PartsUpload, 'key' | 'id'>): Promise<StoredPart[] | undefined> {
  const { client, name } = bucket();
  const parts: StoredPart[] = [];
  try {
    // Without a next page, S3 responds with the marker 0, after which the paginator of the SDK starts over.
    for (let PartNumberMarker: string | undefined; ; ) {
      const page: ListPartsCommandOutput = await client.send(
        new ListPartsCommand({ Bucket: name, Key: key, UploadId: id, PartNumberMarker }),
      );
      for (const { PartNumber = 0, Size = 0, ETag = '' } of page.Parts ?? [])
        parts.push({ PartNumber, Size, ETag: bareTag(ETag) });
      if (!page.IsTruncated) return parts;
      PartNumberMarker = page.NextPartNumberMarker;
    }
  } catch (error) {
    if (error instanceof NoSuchUpload) return undefined;
    throw error;
  }
}

/** Returns a tag without its quotes. */
export function bareTag(etag: string): string {
  return etag.replaceAll('"', '');
}

/** Returns the size of parts in total. */
export function sizeOf(parts: Pick<StoredPart, 'Size'>[]): number {
  return parts.reduce((sum, { Size }) => sum + Size, 0);
}
