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

export interface Target {
  Bucket: string;
  Key: string;
  ContentType: string;
  ContentDisposition?: string;
}

const abortMs = 10_000;

/** The multipart upload of an object to S3. */
export class MultipartUpload implements PartStore {
  readonly #client: S3Client;
  readonly #target: Target;
  readonly #signal: AbortSignal;
  readonly #parts: CompletedPart[] = [];
  #started: Promise<string> | undefined;

  constructor(client: S3Client, target: Target, signal: AbortSignal) {
    this.#client = client;
    this.#target = target;
    this.#signal = signal;
  }

  putWhole(body: Buffer): Promise<unknown> {
    return this.#client.send(new PutObjectCommand({ ...this.#target, Body: body }), { abortSignal: this.#signal });
  }

  async putPart(number: number, body: Buffer): Promise<void> {
    this.#started ??= this.#start();
    const UploadId = await this.#started;
    const { Bucket, Key } = this.#target;
    const { ETag, ChecksumCRC32 } = await this.#client.send(
      new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: number, Body: body }),
      { abortSignal: this.#signal },
    );
    this.#parts[number - 1] = { PartNumber: number, ETag, ChecksumCRC32 };
  }

  async complete(): Promise<void> {
    const { Bucket, Key } = this.#target;
    const UploadId = await this.#started;
    await this.#client.send(
      new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts: this.#parts } }),
      { abortSignal: this.#signal },
    );
  }

  /** Parts that cannot be deleted now are left to the bucket's lifecycle rule. */
  async abort(): Promise<void> {
    const UploadId = await this.#started?.catch(() => undefined);
    if (UploadId === undefined) return;
    const { Bucket, Key } = this.#target;
    // A store that rejected the file may also reject the abort.
    await this.#client
      .send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal: AbortSignal.timeout(abortMs) })
      .catch(() => undefined);
  }

  async #start(): Promise<string> {
    const { UploadId } = await this.#client.send(
      new CreateMultipartUploadCommand({ ...this.#target, ...(await this.#checksumOfParts()) }),
      { abortSignal: this.#signal },
    );
    if (!UploadId) throw new Error('S3 started a multipart upload without an id.');
    return UploadId;
  }

  /**
   * Declares the checksum that the client adds to each part. Otherwise S3 accepts the parts but refuses to complete the
   * upload (InvalidPart).
   */
  async #checksumOfParts(): Promise<{ ChecksumAlgorithm?: 'CRC32' }> {
    const calculation = await this.#client.config.requestChecksumCalculation();
    return calculation === 'WHEN_SUPPORTED' ? { ChecksumAlgorithm: 'CRC32' } : {};
  }
}
