import { builtin } from './builtins.ts';
import { LatheError } from './errors.ts';
import { type Source, streaming } from './source.ts';
import type { Progress } from './types.ts';

/** Sends a request, repeats it after transient failures with another body, and throws unless it succeeds. */
export type Send = (url: string, init: () => RequestInit) => Promise<Response>;

export interface PartsOptions {
  send: Send;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

interface Part {
  number: number;
  from: number;
  to: number;
}

/** A part to send. */
interface Content {
  part: Part;
  /** Returns the body of a request. */
  body(): RequestInit;
  /** Releases the memory of the part. */
  release?(): void;
}

interface StoredPart {
  PartNumber: number;
  Size: number;
  ETag: string;
}

const partsAtOnce = 4;
/** The memory for parts of a stream. One part of the largest file fits. */
const maxCopiedBytes = 96 * 1024 * 1024;
/** The size of the pieces in which copied parts are sent. */
const pieceBytes = 256 * 1024;
/** A URL may expire while a slow connection or a suspended computer has not used it. */
const maxSignatures = 3;

/** Uploads a file in parts to the endpoint of a form, without those that are stored already. */
export async function uploadInParts(endpoint: string, source: Source, options: PartsOptions): Promise<void> {
  const { signal, onProgress, send } = options;
  const uploads = `${endpoint}/s3/multipart`;
  const { name: filename, size, modified } = source;
  const started = await post<{ uploadId: string; partSize: number }>(send, uploads, { filename, size, modified });
  const upload = `${uploads}/${encodeURIComponent(started.uploadId)}`;
  const stored = await get<StoredPart[]>(send, upload);
  const all = partsOf(size, started.partSize);
  const tags = new Map<number, string>();
  for (const { PartNumber, Size, ETag } of stored) {
    const part = all[PartNumber - 1];
    if (part && part.to - part.from === Size) tags.set(PartNumber, ETag);
  }
  let loaded = 0;
  const count = (bytes: number) => {
    loaded += bytes;
    onProgress?.({ loaded, total: size });
  };
  count(all.reduce((sum, { number, from, to }) => sum + (tags.has(number) ? to - from : 0), 0));

  const failure = new AbortController();
  const stop = signal ? AbortSignal.any([signal, failure.signal]) : failure.signal;
  const contents = contentsOf(source, all, (part) => !tags.has(part.number))[Symbol.asyncIterator]();
  let reading: Promise<unknown> = Promise.resolve();
  /** Reads the next part. Sources are read by one caller at a time. */
  const next = () => {
    const read = reading.then(() => contents.next());
    reading = read.catch(() => undefined);
    return read;
  };
  const work = async () => {
    for (let item = await next(); !item.done; item = await next()) {
      stop.throwIfAborted();
      const { part, body, release } = item.value;
      tags.set(part.number, await putPart(send, `${upload}/${part.number}`, body));
      release?.();
      count(part.to - part.from);
    }
  };
  const isCopied = 'once' in source && source.once;
  const workers = isCopied ? Math.max(1, Math.floor(maxCopiedBytes / started.partSize)) : partsAtOnce;
  const working = Array.from({ length: Math.min(workers, partsAtOnce) }, work);
  try {
    await Promise.all(working);
  } catch (error) {
    failure.abort(error);
    // Parts that are being sent need not be repeated when the upload is resumed.
    await Promise.allSettled(working);
    throw error;
  } finally {
    await contents.return?.(undefined);
  }
  const parts = all.map(({ number }) => ({ PartNumber: number, ETag: tags.get(number) }));
  await post(send, `${upload}/complete`, { parts });
}

/** Returns the parts of a file. An empty file has one. */
function partsOf(size: number, partSize: number): Part[] {
  return Array.from({ length: Math.max(1, Math.ceil(size / partSize)) }, (_none, index) => ({
    number: index + 1,
    from: index * partSize,
    to: Math.min(size, (index + 1) * partSize),
  }));
}

async function putPart(send: Send, part: string, body: Content['body']): Promise<string> {
  for (let signature = 1; ; signature++) {
    const { url } = await get<{ url: string }>(send, part);
    try {
      const etag = (await send(url, () => ({ ...body(), method: 'PUT' }))).headers.get('etag');
      if (etag === null)
        throw new LatheError('invalid_response', `Expected the tag of a part from ${new URL(url).origin}.`);
      return etag.replaceAll('"', '');
    } catch (error) {
      const isExpired = error instanceof LatheError && error.status === 403;
      if (!isExpired || signature === maxSignatures) throw error;
    }
  }
}

/** Yields the wanted parts in order. Only those of a stream are held in memory, because they cannot be read again. */
async function* contentsOf(
  source: Source,
  parts: Part[],
  isWanted: (part: Part) => boolean,
): AsyncGenerator<Content, void> {
  if ('once' in source && source.once) return yield* copied(source, parts, isWanted);
  for (const part of parts) {
    const { from, to } = part;
    if (!isWanted(part)) continue;
    if ('blob' in source) yield { part, body: () => ({ body: source.blob.slice(from, to) }) };
    else yield { part, body: () => streamed(whole(source.chunks(from, to), to - from, source), to - from) };
  }
}

type OnceSource = Extract<Source, { once: true }>;

/** Cuts content into parts, and throws if it is shorter or longer than they are. */
async function* copied(
  source: OnceSource,
  parts: Part[],
  isWanted: (part: Part) => boolean,
): AsyncGenerator<Content, void> {
  const [first] = parts;
  const free: Uint8Array<ArrayBuffer>[] = [];
  // Reused, because new ones create garbage faster than it is collected.
  const take = () => free.pop() ?? new Uint8Array(first?.to ?? 0);
  let bytes = take();
  let filled = 0;
  let index = 0;
  for await (const chunk of source.chunks()) {
    for (let offset = 0; offset < chunk.length; ) {
      const part = parts[index];
      if (!part) throw changed(source);
      const size = part.to - part.from;
      const piece = chunk.subarray(offset, offset + size - filled);
      bytes.set(piece, filled);
      offset += piece.length;
      filled += piece.length;
      if (filled < size) continue;
      filled = 0;
      index += 1;
      if (!isWanted(part)) continue;
      const kept = bytes;
      yield { part, body: () => copyOf(kept.subarray(0, size)), release: () => void free.push(kept) };
      bytes = take();
    }
  }
  const rest = parts[index];
  if (rest && rest.from < rest.to) throw changed(source);
  if (rest) yield { part: rest, body: () => ({ body: '' }) };
}

/** Yields content of a size, and throws if it is shorter. */
async function* whole(
  chunks: AsyncIterable<Uint8Array>,
  bytes: number,
  source: Source,
): AsyncGenerator<Uint8Array, void> {
  let left = bytes;
  for await (const chunk of chunks) {
    left -= chunk.length;
    yield chunk;
  }
  if (left !== 0) throw changed(source);
}

function changed({ name }: Source): LatheError {
  return new LatheError('size_changed', `The size of ${name} changed while it was uploaded.`);
}

/** Returns a body of a known size, which is never in memory as a whole. */
function streamed(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, bytes: number) {
  const headers = { 'content-length': String(bytes) };
  return { body: streamOf(chunks), headers, ...streaming };
}

/** Returns what `ReadableStream.from` does in Node: the types of browsers do not have it. */
function streamOf(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const items = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await items.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await items.return?.();
    },
  });
}

/** Returns bytes as a body. Node copies them unless they are streamed, and browsers cannot stream. */
function copyOf(bytes: Uint8Array<ArrayBuffer>): RequestInit {
  return builtin('node:fs') ? streamed(piecesOf(bytes), bytes.length) : { body: bytes };
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

async function get<T>(send: Send, url: string): Promise<T> {
  const response = await send(url, () => ({ headers: { accept: 'application/json' } }));
  return JSON.parse(await response.text());
}

async function post<T>(send: Send, url: string, body: object): Promise<T> {
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const response = await send(url, () => ({ method: 'POST', headers, body: JSON.stringify(body) }));
  return JSON.parse(await response.text());
}
