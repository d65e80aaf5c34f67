import { type FileHandle, open } from 'node:fs/promises';
import { EngineError, type InputFile } from '../engine.ts';
import type { MediaFormat } from './formats.ts';

const mostIndexBytes = 64_000_000;
const mostBoxes = 10_000;

/** Refuses what ffmpeg would read without a word: copy-protected files as noise, and files that end early as shorter ones. */
export async function checkContainer(input: InputFile, format: MediaFormat): Promise<void> {
  const file = await open(input.path);
  try {
    if (format.demuxer === 'mov') await checkProtection(file, input.size);
    if (format.demuxer === 'avi' || format.demuxer === 'wav') await checkRiffSize(file, input.size);
  } finally {
    await file.close();
  }
}

/** Protected streams keep the name of their codec inside; only their entry in the index tells. */
async function checkProtection(file: FileHandle, size: number): Promise<void> {
  let at = 0;
  for (let boxes = 0; at + 16 <= size && boxes < mostBoxes; boxes++) {
    const header = await read(file, at, 16);
    const short = header.readUInt32BE(0);
    const length = short === 1 ? Number(header.readBigUInt64BE(8)) : short === 0 ? size - at : short;
    if (length < 8) return;
    if (header.toString('latin1', 4, 8) === 'moov') {
      const index = await read(file, at, Math.min(length, size - at, mostIndexBytes));
      const entries = ['encv', 'enca', 'drms', 'drmi'].some((entry) => index.includes(entry));
      if (entries && index.includes('sinf') && index.includes('frma')) {
        throw new EngineError('The file is protected against copying (DRM) and cannot be converted.');
      }
    }
    at += length;
  }
}

/** A recording that was never closed says 0 or the greatest number; any other size is meant. */
async function checkRiffSize(file: FileHandle, size: number): Promise<void> {
  if (size < 12) return;
  const header = await read(file, 0, 12);
  const claimed = header.readUInt32LE(4) + 8;
  if (header.toString('latin1', 0, 4) !== 'RIFF' || claimed <= 8 || claimed >= 0xffff_ff00) return;
  // Some writers count their own header or the padding wrongly.
  if (claimed <= size + 1024) return;
  throw new EngineError(
    `The file is damaged or incomplete: it should have ${claimed} bytes and has ${size}. Upload it again or repair it.`,
  );
}

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return bytesRead < length ? Buffer.concat([buffer.subarray(0, bytesRead), Buffer.alloc(16)]) : buffer;
}
