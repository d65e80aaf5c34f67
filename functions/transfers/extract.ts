import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { extensionOf, safeName } from '../../shared/files/names.ts';
import type { StoredFile } from '../../shared/tasks/task.ts';
import { catalogue } from '../catalogue/catalogues.ts';
import { failed, InputUnreadable } from './failures.ts';
import { streamObject } from './streams.ts';

/** A file to send: a stored file, or one in a ZIP. */
export interface Piece extends Pick<StoredFile, 'key' | 'name' | 'size' | 'mediaType'> {
  /** Returns the position of its content in the stored file. */
  start(signal: AbortSignal): Promise<number>;
}

/** More than an hour of video in segments. Each file takes a request of the store. */
const maxFiles = 5_000;
const maxNameCharacters = 500;

/** Media types of the files of HLS and DASH, which no conversion reads. */
const streamTypes: Record<string, string> = {
  m3u8: 'application/vnd.apple.mpegurl',
  mpd: 'application/dash+xml',
  m4s: 'video/iso.segment',
  vtt: 'text/vtt',
};

/**
 * Lists the files of a ZIP that are stored without compression, as those of HLS and DASH are. The ZIP may be of a user, so names
 * and sizes are checked: no name leads out of the prefix, and no bytes are sent twice.
 */
export async function extract(file: StoredFile, signal: AbortSignal): Promise<Piece[]> {
  const reader = new StoredReader(file, signal);
  const zip = await openZip(reader, file.size);
  if (zip.entryCount > maxFiles)
    throw failed(
      `The ZIP has ${zip.entryCount.toLocaleString('en')} files; extract stores at most ${maxFiles.toLocaleString('en')}. Convert with longer segments or fewer renditions.`,
    );
  const pieces: Piece[] = [];
  const names = new Set<string>();
  let left = file.size;
  for await (const entry of entriesOf(zip, reader)) {
    const { fileName: name, uncompressedSize: size } = entry;
    if (name.endsWith('/')) continue;
    requireSafe(name, names);
    if (entry.compressionMethod !== 0 || entry.isEncrypted() || entry.compressedSize !== size)
      throw failed(
        `${JSON.stringify(name)} is compressed or encrypted, but extract takes files that are stored as they are.`,
      );
    left -= size;
    if (left < 0) throw failed('The files of the ZIP overlap, so it is not extracted.');
    const extension = extensionOf(name);
    pieces.push({
      key: file.key,
      name,
      size,
      mediaType: streamTypes[extension] ?? catalogue.mediaType(catalogue.canonical(extension)),
      start: (run) => contentStart(file, entry, run),
    });
  }
  if (pieces.length === 0) throw failed('The ZIP has no files.');
  return pieces;
}

async function openZip(reader: StoredReader, size: number): Promise<ZipFile> {
  try {
    return await fromRandomAccessReaderPromise(reader, size, { lazyEntries: true, strictFileNames: true });
  } catch (error) {
    throw reader.failure ?? unreadable(error);
  }
}

async function* entriesOf(zip: ZipFile, reader: StoredReader): AsyncGenerator<Entry> {
  try {
    yield* zip.eachEntry();
  } catch (error) {
    throw reader.failure ?? unreadable(error);
  }
}

function unreadable(error: unknown): Error {
  return failed('The input is not a readable ZIP with safe names, which extract requires.', error);
}

/** Throws at a name that a store or its readers could take for another place. */
function requireSafe(name: string, names: Set<string>): void {
  const isSafe = name.length <= maxNameCharacters && name.split('/').every((part) => part === safeName(part, ''));
  if (!isSafe || name.includes('//') || names.has(name.toLowerCase()))
    throw failed(`The ZIP has the name ${JSON.stringify(name.slice(0, 200))}, which cannot be stored safely.`);
  names.add(name.toLowerCase());
}

const headerBytes = 30;

/** The header before the content may be longer than in the directory at the end of the ZIP. */
async function contentStart({ key, size }: StoredFile, entry: Entry, signal: AbortSignal): Promise<number> {
  const at = entry.relativeOffsetOfLocalHeader;
  if (at + headerBytes > size) throw misplaced();
  const header = await readRange(key, at, at + headerBytes, signal);
  const start = at + headerBytes + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (header.readUInt32LE(0) !== 0x04034b50 || start + entry.uncompressedSize > size) throw misplaced();
  return start;
}

function misplaced(): Error {
  return failed('The ZIP is damaged: a file is not at its place.');
}

async function readRange(key: string, start: number, end: number, signal: AbortSignal): Promise<Buffer> {
  const stream: Readable = await streamObject(key, signal, start, end);
  return buffer(stream);
}

/** How much of the directory is read at once: a request for each entry would take minutes. */
const windowBytes = 512 * 1024;

/** Reads the directory of a stored ZIP. */
class StoredReader extends RandomAccessReader {
  readonly #file: StoredFile;
  readonly #signal: AbortSignal;
  /** Why the file could not be read, if that is why the ZIP could not. */
  failure: unknown;
  #window: { at: number; bytes: Buffer } = { at: 0, bytes: Buffer.alloc(0) };

  constructor(file: StoredFile, signal: AbortSignal) {
    super();
    this.#file = file;
    this.#signal = signal;
  }

  override read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    if (position + length > this.#file.size) {
      setImmediate(callback, new Error(`The ZIP ends before ${position + length}.`));
      return;
    }
    this.#windowAt(position, length).then(
      ({ at, bytes }) => {
        bytes.copy(target, offset, position - at, position - at + length);
        setImmediate(callback, null);
      },
      (cause: unknown) => {
        this.failure = this.#signal.aborted
          ? this.#signal.reason
          : new InputUnreadable(`The stored file ${this.#file.key} could not be read.`, { cause });
        setImmediate(callback, new Error('The ZIP could not be read.'));
      },
    );
  }

  async #windowAt(position: number, length: number): Promise<{ at: number; bytes: Buffer }> {
    const { at, bytes } = this.#window;
    if (position >= at && position + length <= at + bytes.length) return this.#window;
    const end = Math.min(this.#file.size, position + Math.max(length, windowBytes));
    this.#window = { at: position, bytes: await readRange(this.#file.key, position, end, this.#signal) };
    return this.#window;
  }
}
