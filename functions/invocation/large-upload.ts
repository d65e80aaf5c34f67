import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { bucket } from '../../shared/aws/bucket.ts';
import { clientSettings } from '../../shared/aws/client-settings.ts';
import { abortParts, bareTag, listStoredParts, type StoredPart, sizeOf } from '../../shared/aws/incomplete-uploads.ts';
import { statusOf } from '../../shared/aws/objects.ts';
import { copyPartBytes, minPartBytes, partBytesFor } from '../../shared/files/limits.ts';
import { catalogue } from '../catalogue/catalogues.ts';
import type { LargeOutput } from '../engines/runtime/protocol.ts';
import { invalidResponse } from './parse-response.ts';
import type { RunPlan } from './plan-run.ts';
import { secondsUntil } from './presign.ts';

/** A URL takes up to 1.5 KB of the request. */
const maxUrls = 100;

let signer: S3Client | undefined;

/**
 * The upload in parts of an output that is too large for a form. The key of its object is final: no URL writes to it once the
 * upload is completed. The lengths of all parts but the last are signed, so an engine stores no more than its disk holds and
 * one more part of 5 GiB.
 */
export class LargeUpload {
  readonly key: string;
  readonly #id: string;
  readonly #overBytes: number;
  readonly #partBytes: number;
  readonly #count: number;
  readonly #isEarly: boolean;
  #isOpen = true;

  private constructor(key: string, id: string, overBytes: number, maxBytes: number, expectedBytes?: number) {
    this.key = key;
    this.#id = id;
    this.#overBytes = overBytes;
    this.#isEarly = expectedBytes !== undefined;
    const partBytes = Math.min(copyPartBytes, Math.max(minPartBytes, overBytes));
    // Small parts can be stored soon after they are written.
    this.#partBytes =
      expectedBytes === undefined
        ? Math.max(partBytes, partBytesFor(maxBytes, maxUrls))
        : partBytesFor(expectedBytes, maxUrls);
    this.#count = Math.min(maxUrls, Math.floor(maxBytes / this.#partBytes));
  }

  /** With the bytes that are expected, the engine may store the output while it writes it. */
  static async start(
    key: string,
    { outputFormat, maxOutputBytes }: Pick<RunPlan, 'outputFormat' | 'maxOutputBytes'>,
    overBytes: number,
    expectedBytes?: number,
  ): Promise<LargeUpload> {
    const { client, name } = bucket();
    const ContentType = catalogue.mediaType(outputFormat);
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: name, Key: key, ContentType }));
    if (!UploadId) throw new Error('S3 started a multipart upload without an id.');
    return new LargeUpload(key, UploadId, overBytes, maxOutputBytes, expectedBytes);
  }

  /** Signs the URLs of the parts. */
  async sign(deadline: number): Promise<LargeOutput> {
    const { name: Bucket } = bucket();
    // The checksum of a part is not known when its URL is signed.
    signer ??= new S3Client({ ...clientSettings('S3'), requestChecksumCalculation: 'WHEN_REQUIRED' });
    const client = signer;
    const upload = { Bucket, Key: this.key, UploadId: this.#id };
    const expiresIn = secondsUntil(deadline);
    const url = (PartNumber: number, length: { ContentLength?: number } = {}) =>
      getSignedUrl(client, new UploadPartCommand({ ...upload, PartNumber, ...length }), { expiresIn });
    const full = { ContentLength: this.#partBytes };
    return {
      overBytes: this.#overBytes,
      partBytes: this.#partBytes,
      parts: await Promise.all(Array.from({ length: this.#count }, (_, index) => url(index + 1, full))),
      rest: await url(this.#count + 1),
      ...(this.#isEarly ? { front: await url(1) } : {}),
    };
  }

  /** Makes the object of the parts that an engine reports, if they are the stored ones, and returns its size. */
  async complete(tags: string[], maxBytes: number, signal: AbortSignal): Promise<number> {
    const { client, name } = bucket();
    const stored = await listStoredParts({ key: this.key, id: this.#id });
    const parts = this.#isEarly ? this.#checkedEarly(tags, stored) : this.#checked(tags, stored);
    const size = sizeOf(parts);
    if (size > maxBytes) throw invalidResponse(`Parts of ${size} bytes were stored; the maximum is ${maxBytes}.`);
    const Parts = parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag: `"${ETag}"` }));
    const upload = { Bucket: name, Key: this.key, UploadId: this.#id, MultipartUpload: { Parts } };
    try {
      await client.send(new CompleteMultipartUploadCommand(upload), { abortSignal: signal });
    } catch (error) {
      if (statusOf(error) === 400) throw invalidResponse('A part was replaced after it was reported.');
      throw error;
    }
    this.#isOpen = false;
    return size;
  }

  /** Deletes what was stored, unless it is complete. The sweep aborts what this cannot. */
  async end(): Promise<void> {
    if (this.#isOpen) await abortParts({ key: this.key, id: this.#id });
  }

  /**
   * An engine may have stored parts of an output that it dropped, or one that broke off, so others are ignored. The first part has
   * any length.
   */
  #checkedEarly(tags: string[], stored: StoredPart[] = []): StoredPart[] {
    if (tags.length === 0) throw invalidResponse('Expected one or more parts but received none.');
    return tags.map((tag, index) => {
      const isLast = index === tags.length - 1;
      const found = stored.find(({ PartNumber, Size, ETag }) => {
        const isRest = isLast && PartNumber === this.#count + 1;
        const isFull = PartNumber === index + 1 && (index === 0 || Size === this.#partBytes);
        return (isRest || isFull) && ETag === bareTag(tag);
      });
      if (!found) throw invalidResponse(`Part ${index + 1} was not stored, or replaced.`);
      if (!isLast && found.Size < minPartBytes)
        throw invalidResponse(`Found part ${found.PartNumber} of ${found.Size} bytes before others.`);
      return found;
    });
  }

  #checked(tags: string[], stored: StoredPart[] = []): StoredPart[] {
    if (tags.length === 0) throw invalidResponse('Expected one or more parts but received none.');
    if (stored.length !== tags.length)
      throw invalidResponse(`Expected ${tags.length} stored parts but found ${stored.length}.`);
    for (const [index, { PartNumber, Size, ETag }] of stored.entries()) {
      const isRest = index === stored.length - 1 && PartNumber === this.#count + 1 && Size > 0;
      const isFull = PartNumber === index + 1 && Size === this.#partBytes;
      if (!isFull && !isRest) throw invalidResponse(`Found part ${PartNumber} of ${Size} bytes at place ${index + 1}.`);
      if (ETag !== bareTag(tags[index] ?? '')) throw invalidResponse(`Part ${PartNumber} was not stored, or replaced.`);
    }
    return stored;
  }
}
