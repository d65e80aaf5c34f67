import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { PartStore } from './parts.ts';

interface Target {
  Bucket: string;
  Key: string;
  ContentType: string;
  ContentDisposition?: string | undefined;
}

const abortMs = 10_000;

/** Returns the multipart upload of an object to S3, which starts with the first part. */
export function multipartUpload(client: S3Client, target: Target, abortSignal: AbortSignal): PartStore {
  const { Bucket, Key } = target;
  const parts: CompletedPart[] = [];
  let started: Promise<string> | undefined;

  async function start(): Promise<string> {
    // S3 refuses to complete an upload (InvalidPart) unless it declares the checksum that the client adds to each part.
    const calculation = await client.config.requestChecksumCalculation();
    const ChecksumAlgorithm = calculation === 'WHEN_SUPPORTED' ? 'CRC32' : undefined;
    const command = new CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm });
    const { UploadId } = await client.send(command, { abortSignal });
    if (!UploadId) throw new Error('S3 started a multipart upload without an id.');
    return UploadId;
  }

  return {
    putWhole: (Body) => client.send(new PutObjectCommand({ ...target, Body }), { abortSignal }),

    async putPart(PartNumber, Body) {
      started ??= start();
      const command = new UploadPartCommand({ Bucket, Key, UploadId: await started, PartNumber, Body });
      const { ETag, ChecksumCRC32 } = await client.send(command, { abortSignal });
      parts[PartNumber - 1] = { PartNumber, ETag, ChecksumCRC32 };
    },

    async complete() {
      const upload = { Bucket, Key, UploadId: await started, MultipartUpload: { Parts: parts } };
      await client.send(new CompleteMultipartUploadCommand(upload), { abortSignal });
    },

    /** Parts that cannot be deleted now are left to the bucket's lifecycle rule. */
    async abort() {
      const UploadId = await started?.catch(() => undefined);
      if (UploadId === undefined) return;
      // A store that rejected the file may also reject the abort.
      await client
        .send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal: AbortSignal.timeout(abortMs) })
        .catch(() => undefined);
    },
  };
}
