import { builtin, requiredBuiltin } from './builtins.ts';

/**
 * A file to upload: a path (in Node), bytes, a Blob or File, or a stream. A stream of unknown size is read into memory
 * first, because an upload declares its size.
 */
export type Input =
  | string
  | URL
  | Blob
  | ArrayBuffer
  | Uint8Array<ArrayBuffer>
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

export interface SourceOptions {
  /** Filename; defaults to that of the path or File. Formats are detected from the content. */
  filename?: string | undefined;
  /** Size of a stream in bytes. */
  size?: number | undefined;
}

/** An upload: its name, size, and content as a Blob or as chunks. */
export type Source = { name: string; size: number; modified?: number | undefined } & (
  | { blob: Blob }
  /** Chunks that can be read only once, as those of a stream. */
  | { chunks(): AsyncIterable<Uint8Array>; once: true }
  /** Chunks from an offset to another. */
  | { chunks(from?: number, to?: number): AsyncIterable<Uint8Array>; once: false }
);

const defaultName = 'file';

/**
 * Settings of a request with a stream as its body. Without the last two, fetch of Node 24 and earlier holds everything that it
 * has sent in memory, in case the request is redirected.
 */
export const streaming = { duplex: 'half', redirect: 'error', window: null } as const;

/** Prepares an input for upload. */
export async function sourceOf(input: Input, { filename, size }: SourceOptions = {}): Promise<Source> {
  if (typeof input === 'string' || input instanceof URL) return fileSource(input, filename);
  if (input instanceof Blob || input instanceof ArrayBuffer || input instanceof Uint8Array) {
    const blob = input instanceof Blob ? input : new Blob([input]);
    const modified = 'lastModified' in blob ? Number(blob.lastModified) : undefined;
    return { name: filename ?? nameOf(input) ?? defaultName, size: blob.size, modified, blob };
  }
  const name = filename ?? defaultName;
  if (size !== undefined) return { name, size, chunks: () => chunksOf(input), once: true };
  const blob = await blobOf({ name, size: 0, chunks: () => chunksOf(input), once: true });
  return { name, size: blob.size, blob };
}

/** Returns whether an input is an HTTP URL, which the service fetches. */
export function isWebAddress(input: unknown): boolean {
  return (typeof input === 'string' || input instanceof URL) && /^https?:/i.test(String(input));
}

/** Returns whether an input can be read only once. */
export function isStream(input: Input): boolean {
  return typeof input === 'object' && ('getReader' in input || Symbol.asyncIterator in input);
}

/** Reads a small source into memory. */
export async function blobOf(source: Source): Promise<Blob> {
  if ('blob' in source) return source.blob;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of source.chunks()) parts.push(new Uint8Array(chunk));
  return new Blob(parts);
}

/** Encodes a small Blob. */
export async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let binary = '';
  // Engines limit the number of arguments.
  for (let at = 0; at < bytes.length; at += 10_000) binary += String.fromCharCode(...bytes.subarray(at, at + 10_000));
  return btoa(binary);
}

async function fileSource(input: string | URL, filename: string | undefined): Promise<Source> {
  if (isWebAddress(input))
    throw new TypeError(`Expected a file to upload but received the URL ${input}. Import it instead.`);
  const purpose = 'Reading a file by its path';
  const { createReadStream } = requiredBuiltin('node:fs', purpose);
  const { stat } = requiredBuiltin('node:fs/promises', purpose);
  const path = input instanceof URL ? requiredBuiltin('node:url', purpose).fileURLToPath(input) : input;
  const found = await stat(path);
  if (!found.isFile())
    throw new TypeError(`Expected a file but ${path} is ${found.isDirectory() ? 'a folder' : 'not a regular file'}.`);
  const name = filename ?? builtin('node:path')?.basename(path) ?? defaultName;
  return {
    name,
    size: found.size,
    modified: Math.floor(found.mtimeMs),
    chunks: (from = 0, to = found.size) =>
      to > from ? createReadStream(path, from === 0 && to === found.size ? {} : { start: from, end: to - 1 }) : none(),
    once: false,
  };
}

/** Returns the filename of an input, or an empty text if it has none. */
export function nameIn(input: Input): string {
  if (isWebAddress(input)) return '';
  return typeof input === 'string' ? input : input instanceof URL ? input.pathname : (nameOf(input) ?? '');
}

/** Returns the lowercase extension of a filename without the dot, or an empty text if it has none. */
export function extensionIn(filename: string): string {
  return (/[^/\\][.]([^./\\]+)$/.exec(filename)?.[1] ?? '').toLowerCase();
}

async function* none(): AsyncGenerator<Uint8Array> {}

function nameOf(input: object): string | undefined {
  return 'name' in input && typeof input.name === 'string' ? input.name : undefined;
}

/** Reads a stream in chunks; not every browser supports async iteration of streams. */
export async function* chunksOf(
  stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (!('getReader' in stream)) {
    yield* stream;
    return;
  }
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
