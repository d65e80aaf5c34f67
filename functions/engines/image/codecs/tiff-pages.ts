import { open, readFile, writeFile } from 'node:fs/promises';
import { EngineError } from '../../runtime/engine.ts';
import { int32 } from './bytes.ts';

/** Bytes per value of each type. */
// biome-ignore format: a table
const typeBytes: Record<number, number> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4 };
const [exifTag, gpsTag] = [34_665, 34_853];
/** Tags of nested directories. */
const belowTags = [330, exifTag, gpsTag];
/** Tags with positions in the file: of strips, tiles and directories. */
const offsetTags = [273, 324, ...belowTags];
/** Types of four-byte numbers. */
const [longType, directoryType] = [4, 13];
const maxBytes = 0xffff_ffff;

interface Entry {
  tag: number;
  type: number;
  count: number;
  /** Values in little-endian byte order. */
  data: Buffer;
}

/** Joins TIFFs, each as libvips writes it, into one with all of their pages. */
export async function joinTiffs(files: string[], output: string): Promise<void> {
  const target = await open(output, 'w');
  try {
    let end = 0;
    // The position of the link to the next page.
    let pointer = 4;
    for (const file of files) {
      const bytes = await readFile(file);
      if (bytes.toString('latin1', 0, 4) !== 'II*\0') throw new Error('A page is not a little-endian TIFF.');
      const first = bytes.readUInt32LE(4);
      const last = relocate(bytes, first, end);
      if (end + bytes.length > maxBytes) throw new EngineError('The TIFF would exceed 4 GB. Convert fewer pages.');
      await target.write(bytes, 0, bytes.length, end);
      await target.write(int32(end + first), 0, 4, pointer);
      pointer = end + last;
      end += bytes.length + (bytes.length % 2);
    }
  } finally {
    await target.close();
  }
}

/** Moves all positions in the directories of a file. Returns the position of the link to the next file's directory. */
function relocate(bytes: Buffer, directory: number, by: number): number {
  for (let at = directory; ; ) {
    const next = relocateOne(bytes, at, by);
    const following = bytes.readUInt32LE(next);
    if (following === 0) return next;
    bytes.writeUInt32LE(following + by, next);
    at = following;
  }
}

function relocateOne(bytes: Buffer, directory: number, by: number): number {
  const count = bytes.readUInt16LE(directory);
  for (let entry = directory + 2; entry < directory + 2 + count * 12; entry += 12) {
    const [tag, type] = [bytes.readUInt16LE(entry), bytes.readUInt16LE(entry + 2)];
    const values = bytes.readUInt32LE(entry + 4);
    const isOutside = (typeBytes[type] ?? 1) * values > 4;
    const place = isOutside ? bytes.readUInt32LE(entry + 8) : entry + 8;
    if (belowTags.includes(tag)) {
      for (let index = 0; index < values; index++) relocate(bytes, bytes.readUInt32LE(place + index * 4), by);
    }
    if (offsetTags.includes(tag)) {
      if (type !== longType && type !== directoryType)
        throw new Error('Positions of a page are too short to be moved.');
      for (let index = 0; index < values; index++) {
        const at = place + index * 4;
        bytes.writeUInt32LE(bytes.readUInt32LE(at) + by, at);
      }
    }
    if (isOutside) bytes.writeUInt32LE(place + by, entry + 8);
  }
  return directory + 2 + count * 12;
}

/** EXIF tags in the first directory that describe the picture. Others describe how its pixels are stored. */
const described = [270, 271, 272, 305, 306, 315, 316, 18_246, 33_432, 40_091, 40_092, 40_093, 40_094, 40_095];
/** Maker notes contain absolute positions, and the interoperability directory describes the JPEG. */
const [makerNote, interoperability] = [37_500, 40_965];

/** Adds the EXIF of another format to a TIFF of one page. libvips does not write it. */
export async function addExif(path: string, exif: Buffer | undefined): Promise<void> {
  const source = exif?.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif;
  if (!source || source.length < 8) return;
  const file = await readFile(path);
  if (file.toString('latin1', 0, 4) !== 'II*\0') throw new Error('The TIFF is not little-endian.');
  const own = readEntries(file, file.readUInt32LE(4));
  const isLittle = source.toString('latin1', 0, 2) === 'II';
  const given = readEntries(source, isLittle ? source.readUInt32LE(4) : source.readUInt32BE(4), isLittle);
  const parts: Buffer[] = [file, Buffer.alloc(file.length % 2)];
  let end = file.length + (file.length % 2);
  const append = (entries: Entry[]): number => {
    const at = end;
    const bytes = writeEntries(entries, at);
    parts.push(bytes);
    end += bytes.length;
    return at;
  };
  const below = [exifTag, gpsTag].flatMap((tag): Entry[] => {
    const pointer = given.find((entry) => entry.tag === tag);
    if (pointer?.data.length !== 4) return [];
    const entries = readEntries(source, pointer.data.readUInt32LE(0), isLittle).filter(
      (entry) => entry.tag !== makerNote && entry.tag !== interoperability,
    );
    if (entries.length === 0) return [];
    return [{ tag, type: longType, count: 1, data: int32(append(entries)) }];
  });
  const added = [...given.filter(({ tag }) => described.includes(tag)), ...below];
  const tags = new Set(added.map(({ tag }) => tag));
  const first = append([...own.filter(({ tag }) => !tags.has(tag)), ...added]);
  file.writeUInt32LE(first, 4);
  await writeFile(path, Buffer.concat(parts));
}

/** Reads the entries of a directory that are within the bytes, and converts their values to little-endian. */
function readEntries(bytes: Buffer, at: number, isLittle = true): Entry[] {
  const number = (place: number, size: number) =>
    isLittle ? bytes.readUIntLE(place, size) : bytes.readUIntBE(place, size);
  const entries: Entry[] = [];
  if (at + 2 > bytes.length) return entries;
  const end = at + 2 + number(at, 2) * 12;
  for (let entry = at + 2; entry < end && entry + 12 <= bytes.length; entry += 12) {
    const [tag, type, count] = [number(entry, 2), number(entry + 2, 2), number(entry + 4, 4)];
    const size = (typeBytes[type] ?? 0) * count;
    const place = size <= 4 ? entry + 8 : number(entry + 8, 4);
    if (size === 0 || place + size > bytes.length) continue;
    const data = Buffer.from(bytes.subarray(place, place + size));
    // A fraction consists of two numbers.
    const unit = type === 5 || type === 10 ? 4 : (typeBytes[type] ?? 1);
    if (!isLittle && unit === 2) data.swap16();
    else if (!isLittle && unit === 4) data.swap32();
    else if (!isLittle && unit === 8) data.swap64();
    entries.push({ tag, type, count, data });
  }
  return entries;
}

/** Returns a directory that starts at a position, followed by its values. */
function writeEntries(entries: Entry[], at: number): Buffer {
  const sorted = [...entries].sort((one, other) => one.tag - other.tag);
  const directory = Buffer.alloc(2 + sorted.length * 12 + 4);
  directory.writeUInt16LE(sorted.length, 0);
  const values: Buffer[] = [];
  let end = at + directory.length;
  for (const [index, { tag, type, count, data }] of sorted.entries()) {
    const entry = 2 + index * 12;
    directory.writeUInt16LE(tag, entry);
    directory.writeUInt16LE(type, entry + 2);
    directory.writeUInt32LE(count, entry + 4);
    if (data.length <= 4) data.copy(directory, entry + 8);
    else {
      directory.writeUInt32LE(end, entry + 8);
      const padded = Buffer.concat([data, Buffer.alloc(data.length % 2)]);
      values.push(padded);
      end += padded.length;
    }
  }
  return Buffer.concat([directory, ...values]);
}
