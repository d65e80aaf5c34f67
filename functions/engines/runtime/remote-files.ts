import { fstatSync, ftruncateSync, read, write } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { mapAtOnce } from '../../../shared/concurrency.ts';
import { backoff, retry } from '../../../shared/retry.ts';
import { TamperedError } from './checks.ts';
import { EngineError } from './engine.ts';
import { type LargeOutput, maxPostBytes, type OutputForm } from './protocol.ts';
import type { OpenFile } from './sandbox/folder.ts';

const attempts = 4;
const firstBackoffMs = 200;
/** How many parts of an output are stored concurrently. */
export const partsAtOnce = 4;
/** How much of a file is read at once. */
const chunkBytes = 256 * 1024;

/**
 * For a request with a stream as its body. Without the last two, fetch of Node 24 holds everything that it has sent in memory, in
 * case the request is redirected.
 */
const streaming = { duplex: 'half', redirect: 'error', window: null } as const;

const readFrom = promisify(read);

/** A response of S3 that is worth a retry. */
export class TransferError extends Error {
  override name = 'TransferError';
}

/** Downloads a signed URL to an open, empty file. */
export function fetchFile(url: string, descriptor: number, signal: AbortSignal): Promise<void> {
  return retried(signal, async () => {
    const response = await fetch(url, { signal });
    await checkResponse(response);
    if (!response.body) throw new TransferError('S3 responded without a body.');
    ftruncateSync(descriptor);
    await pipeline(Readable.fromWeb(response.body), writerOf(descriptor), { signal });
  });
}

/** Returns a stream that writes a file from its start. Unlike Node's, it leaves the descriptor open when it fails. */
function writerOf(descriptor: number): Writable {
  let position = 0;
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      const from = (start: number) =>
        write(descriptor, chunk, start, chunk.length - start, position, (error, written) => {
          position += written;
          if (error || start + written === chunk.length) done(error);
          else from(start + written);
        });
      from(0);
    },
  });
}

/** Content of a known size, which can be read again if it has to be sent again. */
export interface Content {
  size: number;
  chunks(): AsyncIterable<Buffer>;
  isUnchanged(): boolean;
  /** Returns a part of the content, if it is a file. */
  slice?(start: number, end: number): Content;
}

/** Returns the content of an open file. Reading it throws a `TamperedError` if the file becomes shorter meanwhile. */
export function contentOf(file: OpenFile, start = 0, end = file.size): Content {
  const { descriptor, size } = file;
  return {
    size: end - start,
    isUnchanged: () => fstatSync(descriptor).size === size,
    slice: (from, to) => contentOf(file, start + from, start + to),
    async *chunks() {
      for (let position = start; position < end; ) {
        const { buffer: chunk, bytesRead } = await readFrom(descriptor, {
          buffer: Buffer.allocUnsafe(Math.min(chunkBytes, end - position)),
          position,
        });
        if (bytesRead === 0) throw changed();
        yield chunk.subarray(0, bytesRead);
        position += bytesRead;
      }
    },
  };
}

/** Reads small content into memory. Throws a `TamperedError` if it changes meanwhile. */
export async function readContent(content: Content): Promise<Buffer> {
  const bytes = await buffer(content.chunks());
  if (bytes.length !== content.size || !content.isUnchanged()) throw changed();
  return bytes;
}

/** Stores content by a signed form and returns its tag. Throws a `TamperedError` if it changes meanwhile. */
export async function postFile(content: Content, key: string, form: OutputForm, signal: AbortSignal): Promise<string> {
  if (content.size > maxPostBytes)
    throw new EngineError(`The output is larger than ${maxPostBytes / 1024 ** 3} GB, the maximum of one file.`);
  const etag = await retried(signal, async () => {
    if (!content.isUnchanged()) throw changed();
    const boundary = crypto.randomUUID();
    const part = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name=${name}\r\n\r\n`;
    const fields = Object.entries({ ...form.fields, key }).map(([name, value]) => `${part(`"${name}"`)}${value}\r\n`);
    // S3 ignores the fields that come after the file.
    const head = Buffer.from([...fields, part('"file"; filename="file"')].join(''));
    const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
    const response = await fetch(form.url, {
      method: 'POST',
      headers: {
        'content-type': `multipart/form-data; boundary=${boundary}`,
        // S3 requires the length of a form.
        'content-length': String(head.length + content.size + tail.length),
      },
      body: bodyOf(head, content, tail),
      ...streaming,
      signal,
    });
    await checkResponse(response);
    return response.headers.get('etag');
  });
  return storedAs(content, etag);
}

/**
 * Stores content in parts by signed URLs and returns their tags. Throws a `TamperedError` if it changes meanwhile.
 */
export async function putParts(
  { size, slice }: Required<Pick<Content, 'size' | 'slice'>>,
  { partBytes, parts, rest }: LargeOutput,
  signal: AbortSignal,
): Promise<string[]> {
  const full = Math.min(parts.length, Math.floor(size / partBytes));
  const pieces = parts
    .slice(0, full)
    .map((url, index) => ({ url, content: slice(index * partBytes, (index + 1) * partBytes) }));
  if (full * partBytes < size) pieces.push({ url: rest, content: slice(full * partBytes, size) });
  // The first failure ends the other parts.
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  return mapAtOnce(pieces, partsAtOnce, ({ url, content }) =>
    putPart(url, content, either).catch((error: unknown) => {
      failure.abort(error);
      throw error;
    }),
  );
}

/** Stores content by a signed URL and returns its tag. */
export async function putPart(url: string, content: Content, signal: AbortSignal): Promise<string> {
  const etag = await retried(signal, async () => {
    if (!content.isUnchanged()) throw changed();
    const headers = { 'content-length': String(content.size) };
    const response = await fetch(url, { method: 'PUT', headers, body: content.chunks(), ...streaming, signal });
    await checkResponse(response);
    await response.body?.cancel();
    return response.headers.get('etag');
  });
  return storedAs(content, etag);
}

/** Returns the tag of content that was stored, if it did not change meanwhile. */
function storedAs(content: Content, etag: string | null): string {
  if (!content.isUnchanged()) throw changed();
  if (etag === null) throw new Error('S3 responded without the tag of an output.');
  return etag;
}

/**
 * Yields a form with a file in it. Node's own form would read the file as a blob, and crash this process if the file
 * changes meanwhile.
 */
async function* bodyOf(head: Buffer, content: Content, tail: Buffer): AsyncGenerator<Buffer> {
  yield head;
  yield* content.chunks();
  yield tail;
}

function changed(): TamperedError {
  return new TamperedError('The file changed while it was being stored.');
}

/** Throws if the store refused a request. */
export async function checkResponse(response: Response): Promise<void> {
  if (response.ok) return;
  const text = (await response.text()).slice(0, 500);
  const message = `S3 responded with status ${response.status}: ${text}`;
  throw response.status >= 500 || response.status === 429 ? new TransferError(message) : new Error(message);
}

/** Retries a transfer after a lost connection or an overload of the store. */
export function retried<T>(signal: AbortSignal, transfer: () => Promise<T>): Promise<T> {
  const delayMs = (error: unknown, attempt: number) => {
    if (attempt === attempts || !isTransient(error)) throw error;
    return backoff(attempt, firstBackoffMs);
  };
  return retry(transfer, delayMs, signal);
}

function isTransient(error: unknown): boolean {
  // fetch reports a refused or lost connection as a TypeError with the error of the socket as its cause.
  if (error instanceof TransferError || error instanceof TypeError) return true;
  return error instanceof Error && 'code' in error && /^(?:ECONN|EPIPE|ETIMEDOUT|UND_ERR)/.test(String(error.code));
}
