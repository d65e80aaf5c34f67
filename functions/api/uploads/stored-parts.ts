import { ListPartsCommand, type ListPartsCommandOutput, NoSuchUpload } from '@aws-sdk/client-s3';
import { bucket } from '../../../shared/aws/bucket.ts';
import type { PartsUpload } from '../../../shared/tasks/task.ts';

/** A part as S3 stored it. */
export interface StoredPart {
  PartNumber: number;
  Size: number;
  /** Without quotes. */
  ETag: string;
}

/** Lists the parts of an upload; undefined if it was completed or aborted. */
export async function listStoredParts({ key, id }: PartsUpload): Promise<StoredPart[] | undefined> {
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
