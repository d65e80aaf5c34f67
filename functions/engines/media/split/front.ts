import { open, writeFile } from 'node:fs/promises';
import type { AnnouncedOutput } from '../../runtime/engine.ts';
import { boxes, read, topBoxes } from '../container.ts';
import type { MediaFormat } from '../formats.ts';
import { readClusters } from './clusters.ts';

/** A muxer completes its header when it has written everything else. Without attachments, headers are shorter. */
export const frontBytes = 8 * 1024 * 1024;
const headerBytes = 8;
const maxOffset = 0xffff_ffff;
/** The boxes on the way to the offsets of an index. */
const branches = ['trak', 'mdia', 'minf', 'stbl'];

/** An output that was announced, and its size. */
interface Fronted {
  announced: AnnouncedOutput;
  size: number;
}

/**
 * Completes an output whose bytes after its front were stored while it was written. With `isIndexFirst`, writes a front for an MP4
 * with its index, which gives the same file as `-movflags +faststart` does. Returns undefined if the front is longer.
 */
export async function frontOf(path: string, target: MediaFormat, isIndexFirst: boolean): Promise<Fronted | undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const whole = { announced: { end: size }, size };
    if (target.demuxer !== 'mov') {
      const [first] = (await readClusters(file, size)) ?? [];
      return first && first[0] <= frontBytes ? whole : undefined;
    }
    if (!isIndexFirst) return whole;
    let media: number | undefined;
    let index: { type: string; at: number; length: number } | undefined;
    for await (index of topBoxes(file, size)) if (index.type !== 'ftyp') media ??= index.at;
    if (index?.type !== 'moov' || media === undefined || media + 2 * headerBytes > frontBytes)
      throw new Error('The file does not end with its index.');
    const start = await read(file, 0, Math.min(frontBytes, index.at));
    const front = `${path}.front`;
    const moved = movedIndex(await read(file, index.at, index.length));
    await writeFile(front, [start.subarray(0, media), moved, start.subarray(media)]);
    return { announced: { front, end: index.at }, size: index.at + moved.length };
  } finally {
    await file.close();
  }
}

/** Returns an index for a file in which it comes before the media instead of after them: all offsets grow by its size. */
function movedIndex(index: Buffer): Buffer {
  for (let bytes = index.length; ; ) {
    const moved = box('moov', shifted(index.subarray(headerBytes), bytes));
    if (moved.length === bytes) return moved;
    // An offset of 32 bits takes 64 now.
    bytes = moved.length;
  }
}

/** Returns boxes with their offsets increased. */
function shifted(content: Buffer, bytes: number): Buffer[] {
  return boxes(content, 0, content.length).flatMap(({ type, from, to }) => {
    const inner = content.subarray(from, to);
    if (branches.includes(type)) return [box(type, shifted(inner, bytes))];
    if (type !== 'stco' && type !== 'co64') return [content.subarray(from - headerBytes, to)];
    const [step, offsetAt] =
      type === 'stco'
        ? ([4, (at: number) => inner.readUInt32BE(at)] as const)
        : ([8, (at: number) => Number(inner.readBigUInt64BE(at))] as const);
    const offsets = Array.from({ length: inner.readUInt32BE(4) }, (_, entry) => bytes + offsetAt(8 + step * entry));
    const isLong = type === 'co64' || offsets.some((offset) => offset > maxOffset);
    const table = Buffer.alloc(offsets.length * (isLong ? 8 : 4));
    for (const [entry, offset] of offsets.entries())
      if (isLong) table.writeBigUInt64BE(BigInt(offset), 8 * entry);
      else table.writeUInt32BE(offset, 4 * entry);
    return [box(isLong ? 'co64' : 'stco', [inner.subarray(0, 8), table])];
  });
}

function box(type: string, content: Buffer[]): Buffer {
  const bytes = content.reduce((sum, { length }) => sum + length, headerBytes);
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(bytes);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, ...content], bytes);
}
