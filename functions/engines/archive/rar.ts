import { type FileHandle, open } from 'node:fs/promises';
import { maxEntries } from './limits.ts';

/** Header flags of a RAR that libarchive ignores: it reads encrypted data as damaged, or as if it were plain. */
export interface RarState {
  isEncrypted: boolean;
  isVolume: boolean;
}

/** Larger than any valid header. */
const headerBytes = 8192;
const signature4 = Buffer.from('Rar!\x1a\x07\0', 'latin1');
const signature5 = Buffer.from('Rar!\x1a\x07\x01\0', 'latin1');

/** Reads the headers of a RAR block by block. Invalid or truncated files are rejected later by the reader. */
export async function rarState(path: string): Promise<RarState> {
  const state: RarState = { isEncrypted: false, isVolume: false };
  const file = await open(path);
  try {
    const start = await headerAt(file, 0);
    const isVersion5 = start.subarray(0, signature5.length).equals(signature5);
    if (!isVersion5 && !start.subarray(0, signature4.length).equals(signature4)) return state;
    let at: number | undefined = isVersion5 ? signature5.length : signature4.length;
    for (let count = 0; at !== undefined && !state.isEncrypted && count < maxEntries; count++) {
      const header: Buffer = await headerAt(file, at);
      const step: number | undefined = isVersion5 ? readBlock5(header, state) : readBlock4(header, state);
      at = step === undefined ? undefined : at + step;
    }
  } catch (error) {
    // Thrown at a header that ends beyond the file.
    if (!(error instanceof RangeError)) throw error;
  } finally {
    await file.close();
  }
  return state;
}

async function headerAt(file: FileHandle, position: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, position);
  return buffer.subarray(0, bytesRead);
}

/** Records a block and returns its length, or undefined after the last one. */
function readBlock4(header: Buffer, state: RarState): number | undefined {
  const type = header.readUInt8(2);
  const flags = header.readUInt16LE(3);
  const size = header.readUInt16LE(5);
  if (type === 0x73) {
    state.isVolume = (flags & 0x0001) !== 0;
    state.isEncrypted = (flags & 0x0080) !== 0;
  }
  const isFile = type === 0x74;
  if (isFile && flags & 0x0004) state.isEncrypted = true;
  if (size < 7 || type === 0x7b) return undefined;
  const high = isFile && flags & 0x0100 ? header.readUInt32LE(32) * 2 ** 32 : 0;
  return size + high + (isFile || flags & 0x8000 ? header.readUInt32LE(7) : 0);
}

function readBlock5(header: Buffer, state: RarState): number | undefined {
  const fields = new Fields(header, 4);
  const size = fields.next();
  const end = fields.at + size;
  const type = fields.next();
  const flags = fields.next();
  const extraSize = flags & 0x01 ? fields.next() : 0;
  const dataSize = flags & 0x02 ? fields.next() : 0;
  if (type === 4) state.isEncrypted = true;
  if (type === 1) state.isVolume = (fields.next() & 0x01) !== 0;
  if (type === 2) {
    const extra = new Fields(header, end - extraSize);
    while (extra.at < end) {
      const next = extra.next() + extra.at;
      if (extra.next() === 1) state.isEncrypted = true;
      extra.at = next;
    }
  }
  return type === 5 || size === 0 ? undefined : end + dataSize;
}

/** Reads a number of RAR 5, with seven bits per byte. */
class Fields {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  next(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes.readUInt8(this.at++);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }
}
