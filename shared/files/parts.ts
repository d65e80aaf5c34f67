import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

export interface Target {
  Bucket: string;
  Key: string;
  ContentType: string;
  ContentDisposition?: string;
}

export interface PartOptions {
  partBytes: number;
  partsAtOnce: number;
  signal: AbortSignal;
}

/**
 * Stores content of any size in parts and returns its size. The parts pass through a few buffers that are filled again and
 * again: a new one for each, as the library's own upload makes it, is garbage that heaps up faster than it is collected.
 * What is stored is whole; of content that breaks off nothing stays.
 */
export async function storeInParts(
  client: S3Client,
  target: Target,
  content: AsyncIterable<Uint8Array>,
  { partBytes, partsAtOnce, signal }: PartOptions,
): Promise<number> {
  signal.throwIfAborted();
  const upload = new PartUpload(client, target, signal);
  const free: Buffer[] = [];
  const inFlight = new Set<Promise<void>>();
  let buffer: Buffer = Buffer.allocUnsafeSlow(partBytes);
  let filled = 0;
  let size = 0;
  const send = async () => {
    const sent = buffer;
    const part = upload.send(sent.subarray(0, filled)).then(() => void free.push(sent));
    const settled = part.finally(() => inFlight.delete(settled));
    // Whoever waits next hears of a failure; until then it is nobody's.
    settled.catch(() => undefined);
    inFlight.add(settled);
    if (inFlight.size >= partsAtOnce) await Promise.race(inFlight);
    buffer = free.pop() ?? Buffer.allocUnsafeSlow(partBytes);
    filled = 0;
  };
  try {
    for await (const chunk of content) {
      signal.throwIfAborted();
      for (let offset = 0; offset < chunk.length; ) {
        // Only now, when there is more: the last part may be the first and need no parts at all.
        if (filled === partBytes) await send();
        const taken = Math.min(partBytes - filled, chunk.length - offset);
        buffer.set(chunk.subarray(offset, offset + taken), filled);
        filled += taken;
        offset += taken;
      }
      size += chunk.length;
    }
    if (size <= partBytes) {
      await client.send(new PutObjectCommand({ ...target, Body: buffer.subarray(0, filled) }), { abortSignal: signal });
      return size;
    }
    await send();
    await Promise.all(inFlight);
    await upload.complete();
    return size;
  } catch (error) {
    await Promise.allSettled(inFlight);
    await upload.abort();
    throw error;
  }
}

class PartUpload {
  readonly #client: S3Client;
  readonly #target: Target;
  readonly #signal: AbortSignal;
  readonly #parts: CompletedPart[] = [];
  #started: Promise<string> | undefined;
  #sent = 0;

  constructor(client: S3Client, target: Target, signal: AbortSignal) {
    this.#client = client;
    this.#target = target;
    this.#signal = signal;
  }

  async send(body: Uint8Array): Promise<void> {
    const PartNumber = ++this.#sent;
    this.#started ??= this.#start();
    const UploadId = await this.#started;
    const { Bucket, Key } = this.#target;
    const { ETag, ChecksumCRC32 } = await this.#client.send(
      new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body: body }),
      { abortSignal: this.#signal },
    );
    this.#parts[PartNumber - 1] = { PartNumber, ETag, ...(ChecksumCRC32 === undefined ? {} : { ChecksumCRC32 }) };
  }

  async complete(): Promise<void> {
    const { Bucket, Key } = this.#target;
    const UploadId = await this.#started;
    await this.#client.send(
      new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts: this.#parts } }),
      { abortSignal: this.#signal },
    );
  }

  /** Gives the upload up; what cannot be taken away now goes by the bucket's own rule. */
  async abort(): Promise<void> {
    const UploadId = await this.#started?.catch(() => undefined);
    if (UploadId === undefined) return;
    const { Bucket, Key } = this.#target;
    await this.#client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => undefined);
  }

  async #start(): Promise<string> {
    const { UploadId } = await this.#client.send(new CreateMultipartUploadCommand(this.#target), {
      abortSignal: this.#signal,
    });
    if (!UploadId) throw new Error('S3 began an upload without an id.');
    return UploadId;
  }
}
