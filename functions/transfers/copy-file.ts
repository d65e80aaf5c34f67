import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { bucket } from '../../shared/aws/bucket.ts';
import { abortParts } from '../../shared/aws/incomplete-uploads.ts';
import { copyObject, readVersion } from '../../shared/aws/objects.ts';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { copyPartBytes, maxRequestBytes, partBytesFor } from '../../shared/files/limits.ts';
import type { StoredFile } from '../../shared/tasks/task.ts';

/** No data passes through this process. */
const partsAtOnce = 8;

/** Sizes that tests set to smaller ones. */
interface CopyLimits {
  /** Larger files are copied in parts. */
  maxBytes: number;
  partBytes: number;
}

/** Copies a file of any size within the bucket. A large one is copied in parts, and an aborted copy leaves none of them behind. */
export async function copyFile(
  { key: from, size, mediaType }: Pick<StoredFile, 'key' | 'size' | 'mediaType'>,
  key: string,
  signal: AbortSignal,
  { maxBytes, partBytes }: CopyLimits = {
    maxBytes: maxRequestBytes,
    partBytes: Math.max(copyPartBytes, partBytesFor(size)),
  },
): Promise<void> {
  if (size <= maxBytes) return copyObject(from, key, signal);
  const version = await readVersion(from, signal);
  if (!version) throw new Error(`Expected the file ${from} but it is missing.`);
  const { client, name: Bucket } = bucket();
  const start = new CreateMultipartUploadCommand({ Bucket, Key: key, ContentType: mediaType });
  const { UploadId } = await client.send(start, { abortSignal: signal });
  if (!UploadId) throw new Error('S3 started a multipart upload without an id.');
  // The first failure ends the other copies, which may take a while.
  const failure = new AbortController();
  const abortSignal = AbortSignal.any([signal, failure.signal]);
  const source = { CopySource: `${Bucket}/${encodeURIComponent(from)}`, CopySourceIfMatch: version.etag };
  const copyPart = async (offset: number, index: number) => {
    const CopySourceRange = `bytes=${offset}-${Math.min(offset + partBytes, version.size) - 1}`;
    const part = { Bucket, Key: key, UploadId, PartNumber: index + 1 };
    try {
      const command = new UploadPartCopyCommand({ ...part, ...source, CopySourceRange });
      const { CopyPartResult } = await client.send(command, { abortSignal });
      return { PartNumber: index + 1, ETag: CopyPartResult?.ETag };
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  };
  try {
    const offsets = Array.from({ length: Math.ceil(version.size / partBytes) }, (_none, index) => index * partBytes);
    const Parts = await mapAtOnce(offsets, partsAtOnce, copyPart);
    const upload = { Bucket, Key: key, UploadId, MultipartUpload: { Parts } };
    await client.send(new CompleteMultipartUploadCommand(upload), { abortSignal: signal });
  } catch (error) {
    // The sweep aborts what this cannot.
    await abortParts({ key, id: UploadId }).catch(() => undefined);
    throw error;
  }
}
