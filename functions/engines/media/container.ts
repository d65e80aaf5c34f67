import { type FileHandle, open } from 'node:fs/promises';
import { EngineError, type InputFile } from '../runtime/engine.ts';
import type { MediaFormat } from './formats.ts';

const maxIndexBytes = 64_000_000;
const maxBoxes = 10_000;

/**
 * Rejects files that ffmpeg would read without an error: protected files as noise, and truncated videos as shorter ones.
 * Returns the expected size of a truncated audio file, which ffmpeg does not report either.
 */
export async function checkContainer(input: InputFile, format: MediaFormat): Promise<number | undefined> {
  const file = await open(input.path);
  try {
    if (format.demuxer === 'mov') await checkProtection(file, input.size);
    if (format.demuxer === 'wav') return await missingRiffSize(file, input.size);
    if (format.demuxer === 'asf') return await missingAsfSize(file, input.size);
    const claimed = format.demuxer === 'avi' ? await missingRiffSize(file, input.size) : undefined;
    if (claimed === undefined) return undefined;
    throw new EngineError(
      `The file is damaged or incomplete: expected ${claimed} bytes but received ${input.size}. Upload it again or repair it.`,
    );
  } finally {
    await file.close();
  }
}

/** Rejects protected streams. They keep the name of their codec; only their entry in the index shows the protection. */
async function checkProtection(file: FileHandle, size: number): Promise<void> {
  for await (const { index } of indexes(file, size)) {
    const entries = ['encv', 'enca', 'drms', 'drmi'].some((entry) => index.includes(entry));
    if (entries && index.includes('sinf') && index.includes('frma')) {
      throw new EngineError('The file is protected by DRM and cannot be converted.');
    }
  }
}

/**
 * Writes the ISO 639-2 language codes of the tracks of a QuickTime file. ffmpeg supports only the languages of the first
 * Macintosh there, and only one of the two codes for German.
 */
export async function writeLanguages(path: string, languages: (string | undefined)[]): Promise<void> {
  const file = await open(path, 'r+');
  try {
    for await (const { at, index } of indexes(file, (await file.stat()).size)) {
      const tracks = boxes(index, 8, index.length).filter(({ type }) => type === 'trak');
      for (const [track, { from, to }] of tracks.entries()) {
        const language = languages[track];
        if (language === undefined || !/^[a-z]{3}$/.test(language)) continue;
        const media = boxes(index, from, to).find(({ type }) => type === 'mdia');
        const header = media && boxes(index, media.from, media.to).find(({ type }) => type === 'mdhd');
        if (!header) continue;
        // Five bits per letter. The dates before it are longer in the second version.
        const code = [...language].reduce((bits, letter) => bits * 32 + letter.charCodeAt(0) - 0x60, 0);
        const place = at + header.from + (index[header.from] === 1 ? 32 : 20);
        await file.write(Buffer.from([code >> 8, code & 0xff]), 0, 2, place);
      }
    }
  } finally {
    await file.close();
  }
}

/** A box of an ISO or QuickTime file, with the start and end of its content. */
export interface Box {
  type: string;
  from: number;
  to: number;
}

/** Lists the boxes in a part of an index. */
export function boxes(index: Buffer, from: number, to: number): Box[] {
  const found: Box[] = [];
  for (let at = from; at + 8 <= to; ) {
    const length = index.readUInt32BE(at);
    if (length < 8) break;
    found.push({ type: index.toString('latin1', at + 4, at + 8), from: at + 8, to: Math.min(at + length, to) });
    at += length;
  }
  return found;
}

/** Reads the indexes of an ISO or QuickTime file, with their positions. */
async function* indexes(file: FileHandle, size: number): AsyncGenerator<{ at: number; index: Buffer }> {
  for await (const { type, at, length } of topBoxes(file, size)) {
    if (type === 'moov') yield { at, index: await read(file, at, Math.min(length, size - at, maxIndexBytes)) };
  }
}

/** Lists the outermost boxes of an ISO or QuickTime file, each with its position and its length including the header. */
export async function* topBoxes(
  file: FileHandle,
  size: number,
  max = maxBoxes,
): AsyncGenerator<{ type: string; at: number; length: number }> {
  let at = 0;
  for (let boxes = 0; at + 16 <= size && boxes < max; boxes++) {
    const header = await read(file, at, 16);
    const short = header.readUInt32BE(0);
    const length = short === 1 ? Number(header.readBigUInt64BE(8)) : short === 0 ? size - at : short;
    if (length < 8) return;
    yield { type: header.toString('latin1', 4, 8), at, length };
    at += length;
  }
}

/**
 * Returns the size in the header if the file is smaller. A recording that was never finished declares 0 or the largest number,
 * which are ignored.
 */
async function missingRiffSize(file: FileHandle, size: number): Promise<number | undefined> {
  if (size < 12) return undefined;
  const header = await read(file, 0, 12);
  const claimed = header.readUInt32LE(4) + 8;
  if (header.toString('latin1', 0, 4) !== 'RIFF' || claimed <= 8 || claimed >= 0xffff_ff00) return undefined;
  // Some writers miscount their own header or the padding.
  return claimed <= size + 1024 ? undefined : claimed;
}

const asfHeader = Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex');
const asfProperties = Buffer.from('a1dcab8c47a9cf118ee400c00c205365', 'hex');

/** Returns the size in the header of a Windows Media file if the file is smaller. A broadcast declares none. */
async function missingAsfSize(file: FileHandle, size: number): Promise<number | undefined> {
  const start = await read(file, 0, 30);
  if (!start.subarray(0, 16).equals(asfHeader)) return undefined;
  const end = Math.min(size, Number(start.readBigUInt64LE(16)));
  let at = 30;
  for (let objects = 0; at + 92 <= end && objects < maxBoxes; objects++) {
    const header = await read(file, at, 92);
    if (header.subarray(0, 16).equals(asfProperties)) {
      const claimed = Number(header.readBigUInt64LE(40));
      const isBroadcast = (header.readUInt32LE(88) & 1) === 1;
      return isBroadcast || claimed <= size + 1024 ? undefined : claimed;
    }
    const length = Number(header.readBigUInt64LE(16));
    if (length < 24) return undefined;
    at += length;
  }
  return undefined;
}

/** Reads a part of a file. If it is shorter, at least 16 zeros follow. */
export async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return bytesRead < length ? Buffer.concat([buffer.subarray(0, bytesRead), Buffer.alloc(16)]) : buffer;
}
