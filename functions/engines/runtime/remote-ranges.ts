import { ftruncateSync, write } from 'node:fs';
import { promisify } from 'node:util';
import { mapAtOnce } from '../../../shared/concurrency.ts';
import { type ByteRange, bytesOf, mergedRanges } from './byte-ranges.ts';
import { EngineError } from './engine.ts';
import { checkResponse, retried, TransferError } from './remote-files.ts';

/** Longer ranges are fetched in pieces, several at once. */
const pieceBytes = 8 * 1024 * 1024;
const piecesAtOnce = 16;
/** A header of a box: its size, its type and the size if that takes 64 bits. */
const headerBytes = 16;
/** Programs read the first pictures and sound of a file to find out how they are encoded. */
const firstMediaBytes = 8 * 1024 * 1024;
const maxBoxes = 100;
/** More than the index of twelve hours. */
const maxIndexBytes = 512 * 1024 * 1024;

const writeAt = promisify(write);

/** An object of a store, and the empty file that receives parts of it. */
interface RangedSource {
  url: string;
  size: number;
  descriptor: number;
  signal: AbortSignal;
  /** Called with the number of bytes that were written. */
  onBytes?: (bytes: number) => void;
}

/**
 * Fetches ranges of an object to their places in a file of the same size, whose rest stays a hole. All of them come from one
 * version of the object.
 */
export async function fetchRanges(source: RangedSource, ranges: ByteRange[]): Promise<void> {
  await new RangedFile(source).fetch(ranges);
}

/**
 * Fetches an ISO or QuickTime file without most of its pictures and sound, and returns the ranges that were fetched. Throws an
 * `EngineError` if its index is not in one piece.
 */
export async function fetchIndex(source: RangedSource): Promise<ByteRange[]> {
  const file = new RangedFile(source);
  const ranges: ByteRange[] = [];
  let media = 0;
  let at = 0;
  for (let count = 0; at + headerBytes <= source.size; count++) {
    const { type, length } = await file.box(at);
    if (count === maxBoxes || type === 'moof' || length < 8) throw withoutIndex();
    const end = Math.min(at + length, source.size);
    if (type === 'mdat' && media++ > 0) ranges.push([at, Math.min(at + headerBytes, end)]);
    else if (type === 'mdat') ranges.push([at, Math.min(at + firstMediaBytes, end)]);
    else if (['free', 'skip', 'wide'].includes(type)) ranges.push([at, Math.min(at + headerBytes, end)]);
    else ranges.push([at, end]);
    at = end;
  }
  if (at < source.size) ranges.push([at, source.size]);
  const merged = mergedRanges(ranges);
  if (bytesOf(merged) > maxIndexBytes) throw withoutIndex();
  await file.fetch(merged);
  return merged;
}

function withoutIndex(): EngineError {
  return new EngineError(
    'The file has no index in one piece, so its pictures cannot be found without reading all of it.',
  );
}

class RangedFile {
  readonly #source: RangedSource;
  #etag: string | undefined;

  constructor(source: RangedSource) {
    this.#source = source;
    ftruncateSync(source.descriptor, source.size);
  }

  /** Reads the header of a box. */
  async box(at: number): Promise<{ type: string; length: number }> {
    const header = Buffer.alloc(headerBytes);
    await this.#get([at, at + headerBytes], async (chunk, position) => void chunk.copy(header, position - at));
    const short = header.readUInt32BE(0);
    const length = short === 1 ? Number(header.readBigUInt64BE(8)) : short === 0 ? this.#source.size - at : short;
    return { type: header.toString('latin1', 4, 8), length };
  }

  async fetch(ranges: ByteRange[]): Promise<void> {
    const [first, ...others] = ranges.flatMap(inPieces);
    if (!first) return;
    // The first response says which version of the object the others have to be of.
    await this.#store(first);
    await mapAtOnce(others, piecesAtOnce, (piece) => this.#store(piece));
  }

  #store(range: ByteRange): Promise<void> {
    const { descriptor, onBytes } = this.#source;
    return this.#get(range, async (chunk, position) => {
      for (let start = 0; start < chunk.length; ) {
        const { bytesWritten } = await writeAt(descriptor, chunk, start, chunk.length - start, position + start);
        start += bytesWritten;
      }
      onBytes?.(chunk.length);
    });
  }

  /** Reads a range. A retry continues after the last byte that arrived. */
  #get([from, to]: ByteRange, receive: (chunk: Buffer, position: number) => Promise<void>): Promise<void> {
    const { url, size, signal } = this.#source;
    let at = from;
    return retried(signal, async () => {
      const headers = { range: `bytes=${at}-${to - 1}`, ...(this.#etag ? { 'if-match': this.#etag } : {}) };
      const response = await fetch(url, { headers, signal });
      await checkResponse(response);
      const given = response.headers.get('content-range');
      const etag = response.headers.get('etag');
      const expected = `bytes ${at}-${to - 1}/${size}`;
      if (response.status !== 206 || given !== expected || !etag || etag !== (this.#etag ?? etag)) {
        await response.body?.cancel();
        throw new Error(`Expected ${expected} but received status ${response.status}, ${given} and the tag ${etag}.`);
      }
      this.#etag = etag;
      if (!response.body) throw new TransferError('S3 responded without a body.');
      for await (const chunk of response.body) {
        if (at + chunk.length > to) throw new Error(`S3 sent more than ${expected}.`);
        await receive(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length), at);
        at += chunk.length;
      }
      if (at < to) throw new TransferError(`S3 sent less than ${expected}.`);
    });
  }
}

function inPieces([from, to]: ByteRange): ByteRange[] {
  return Array.from({ length: Math.ceil((to - from) / pieceBytes) }, (_, index): ByteRange => {
    const start = from + index * pieceBytes;
    return [start, Math.min(to, start + pieceBytes)];
  });
}
