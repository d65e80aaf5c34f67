import type { FileHandle } from 'node:fs/promises';
import type { ByteRange } from '../../runtime/byte-ranges.ts';
import { read } from '../container.ts';

const segmentId = 0x18538067;
const clusterId = 0x1f43b675;
/** An element's ID has up to four bytes, and its size up to eight. */
const headerBytes = 16;
/** More than those of twelve hours, of a second each. */
const maxElements = 100_000;

/** Returns the ranges of the clusters of a Matroska file, which hold its packets. Returns undefined if a size is unknown. */
export async function readClusters(file: FileHandle, size: number): Promise<ByteRange[] | undefined> {
  const clusters: ByteRange[] = [];
  let at = 0;
  for (let elements = 0; at < size; elements++) {
    const element = elementOf(await read(file, at, headerBytes));
    if (!element || elements === maxElements) return undefined;
    const { id, head, length } = element;
    // The segment contains the others, and is as long as the file if its size is unknown.
    if (id === segmentId) {
      at += head;
      continue;
    }
    if (length === undefined) return undefined;
    const end = at + head + length;
    if (end > size) return undefined;
    if (id === clusterId) clusters.push([at, end]);
    at = end;
  }
  return clusters;
}

/** Reads the header of an element. A size of ones is unknown. */
function elementOf(header: Buffer): { id: number; head: number; length: number | undefined } | undefined {
  const idBytes = Math.clz32(header[0] ?? 0) - 23;
  if (idBytes > 4) return undefined;
  const first = header[idBytes] ?? 0;
  const sizeBytes = Math.clz32(first) - 23;
  if (sizeBytes > 8) return undefined;
  const ones = 2 ** (7 * sizeBytes) - 1;
  let length = first & (2 ** (8 - sizeBytes) - 1);
  for (let index = 1; index < sizeBytes; index++) length = length * 256 + (header[idBytes + index] ?? 0);
  const isUnknown = length === ones || !Number.isSafeInteger(length);
  return { id: header.readUIntBE(0, idBytes), head: idBytes + sizeBytes, length: isUnknown ? undefined : length };
}
