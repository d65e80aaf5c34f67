import { LatheError } from './errors.ts';
import type { Source } from './source.ts';
import type { Progress } from './types.ts';

/** Sends a request, repeats it after transient failures, and throws unless it succeeds. */
export type Send = (url: string, init: RequestInit) => Promise<Response>;

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

interface StoredPart {
  PartNumber: number;
  Size: number;
  ETag: string;
}

/** How many parts are sent concurrently, and the memory that they may take together. */
const partsAtOnce = 4;
const maxBytesAtOnce = 128 * 1024 * 1024;
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
      const { part, content } = item.value;
      tags.set(part.number, await putPart(send, `${upload}/${part.number}`, content));
      count(content.size);
    }
  };
  const workers = Math.max(1, Math.min(partsAtOnce, Math.floor(maxBytesAtOnce / started.partSize)));
  try {
    await Promise.all(Array.from({ length: workers }, work));
  } catch (error) {
    failure.abort(error);
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

async function putPart(send: Send, part: string, body: Blob): Promise<string> {
  for (let signature = 1; ; signature++) {
    const { url } = await get<{ url: string }>(send, part);
    try {
      const etag = (await send(url, { method: 'PUT', body })).headers.get('etag');
      if (etag === null)
        throw new LatheError('invalid_response', `Expected the tag of a part from ${new URL(url).origin}.`);
      return etag.replaceAll('"', '');
    } catch (error) {
      const isExpired = error instanceof LatheError && error.status === 403;
      if (!isExpired || signature === maxSignatures) throw error;
    }
  }
}

/** Yields the wanted parts with their content, in order. */
async function* contentsOf(
  source: Source,
  parts: Part[],
  isWanted: (part: Part) => boolean,
): AsyncGenerator<{ part: Part; content: Blob }> {
  if ('blob' in source) {
    for (const part of parts) if (isWanted(part)) yield { part, content: source.blob.slice(part.from, part.to) };
    return;
  }
  if (!source.once) {
    for (const part of parts)
      if (isWanted(part)) {
        for await (const content of cut(source.chunks(part.from, part.to), [part], source)) yield { part, content };
      }
    return;
  }
  let index = 0;
  for await (const content of cut(source.chunks(), parts, source)) {
    const part = parts[index++];
    if (part && isWanted(part)) yield { part, content };
  }
}

/** Cuts content into parts, and throws if it is shorter or longer than they are. */
async function* cut(chunks: AsyncIterable<Uint8Array>, parts: Part[], { name }: Source): AsyncGenerator<Blob> {
  const [first] = parts;
  let index = 0;
  let position = first?.from ?? 0;
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  const changed = () => new LatheError('size_changed', `The size of ${name} changed while it was uploaded.`);
  for await (const chunk of chunks) {
    for (let offset = 0; offset < chunk.length; ) {
      const part = parts[index];
      if (!part) throw changed();
      const taken = chunk.slice(offset, offset + part.to - position);
      pieces.push(taken);
      offset += taken.length;
      position += taken.length;
      if (position < part.to) continue;
      yield new Blob(pieces);
      pieces = [];
      index += 1;
    }
  }
  const rest = parts[index];
  if (rest && position === rest.to) yield new Blob(pieces);
  else if (rest) throw changed();
}

async function get<T>(send: Send, url: string): Promise<T> {
  const response = await send(url, { headers: { accept: 'application/json' } });
  return JSON.parse(await response.text());
}

async function post<T>(send: Send, url: string, body: object): Promise<T> {
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const response = await send(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return JSON.parse(await response.text());
}
