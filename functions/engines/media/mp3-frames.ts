import { readFile, stat } from 'node:fs/promises';
import { id3Bytes } from './probe.ts';

/** Sixteen minutes at the usual bit rate. Starting ffprobe takes no noticeable part of converting more. */
const maxBytes = 16_000_000;
/** By the index in a frame's header: thousands of bits per second in the first version of MPEG and in the later ones. */
const bitRates = {
  first: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  later: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const sampleRates = [44_100, 48_000, 32_000];
/** By the bits for the version of MPEG: what the sample rates are divided by. */
const divisors: Partial<Record<number, number>> = { 3: 1, 2: 2, 0: 4 };

/**
 * Counts the whole frames of an MP3 file and returns their duration in seconds. Unlike the duration in its header, which
 * ffprobe reports, it excludes missing frames. Returns `undefined` if other bytes are between the frames.
 */
export async function secondsOfMp3(path: string): Promise<number | undefined> {
  if ((await stat(path)).size > maxBytes) return undefined;
  const file = await readFile(path);
  const isTagged = file.toString('latin1', file.length - 128, file.length - 125) === 'TAG';
  const end = isTagged ? file.length - 128 : file.length;
  let seconds = 0;
  const start = id3Bytes(file);
  for (let at = start; at < end; ) {
    const frame = at + 4 <= end ? frameOf(file.readUInt32BE(at)) : undefined;
    if (!frame) return at > start && at + 4 > end ? seconds : undefined;
    if (at + frame.bytes > end) break;
    if (at > start || !isHeader(file.subarray(at, at + frame.bytes))) seconds += frame.seconds;
    at += frame.bytes;
  }
  return seconds;
}

/** Returns whether a first frame has no sound but facts about the others. Their place depends on version and channels. */
function isHeader(frame: Buffer): boolean {
  return ['Xing', 'Info'].some((mark) => [13, 21, 36].includes(frame.indexOf(mark)));
}

/** Reads the header of a frame of the third layer. */
function frameOf(header: number): { bytes: number; seconds: number } | undefined {
  const version = (header >>> 19) & 3;
  const divisor = divisors[version];
  const isThirdLayer = header >>> 21 === 0x7ff && ((header >>> 17) & 3) === 1;
  const bits = (divisor === 1 ? bitRates.first : bitRates.later)[(header >>> 12) & 15];
  const base = sampleRates[(header >>> 10) & 3];
  if (!isThirdLayer || divisor === undefined || !bits || base === undefined) return undefined;
  const samples = divisor === 1 ? 1152 : 576;
  const rate = base / divisor;
  return { bytes: Math.floor((samples * bits * 125) / rate) + ((header >>> 9) & 1), seconds: samples / rate };
}
