/** Tags of a TIFF that the decoders read. */
export const tags = {
  subfileType: 254,
  width: 256,
  height: 257,
  bitsPerSample: 258,
  compression: 259,
  colours: 262,
  make: 271,
  stripOffsets: 273,
  samplesPerPixel: 277,
  rowsPerStrip: 278,
  stripBytes: 279,
  planes: 284,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  tileBytes: 325,
  subDirectories: 330,
  colourProfile: 34_675,
  dngVersion: 50_706,
};

/** The numbers and texts of one directory of a TIFF, by tag. */
export interface Directory {
  numbers(tag: number): number[];
  text(tag: number): string;
  has(tag: number): boolean;
}

export interface Tiff {
  /** The first directory, its successors, and nested directories. */
  directories: Directory[];
  /** A nested directory is beyond the bytes. */
  isCut: boolean;
}

/** Signatures of TIFF, and of the variants of Olympus and Panasonic. */
const marks = [42, 0x4f52, 0x5352, 0x55];
const bytesOfType: Record<number, number> = { 1: 1, 2: 1, 3: 2, 4: 4, 7: 1, 13: 4 };
const [maxDirectories, maxEntries, maxValues] = [64, 1024, 200_000];

/** Reads the directories of a TIFF or a camera's variant that are within the bytes. Skips values other than numbers and texts. */
export function readDirectories(bytes: Buffer): Tiff | undefined {
  const order = bytes.toString('latin1', 0, 2);
  if (bytes.length < 8 || (order !== 'II' && order !== 'MM')) return undefined;
  const isLittle = order === 'II';
  const number = (at: number, size: number) => (isLittle ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size));
  if (!marks.includes(number(2, 2))) return undefined;

  const tiff: Tiff = { directories: [], isCut: false };
  const waiting = [{ at: number(4, 4), isBelow: false }];
  const seen = new Set<number>();
  for (let next = waiting.shift(); next && tiff.directories.length < maxDirectories; next = waiting.shift()) {
    const { at, isBelow } = next;
    if (at === 0 || seen.has(at)) continue;
    seen.add(at);
    const count = at + 2 <= bytes.length ? number(at, 2) : 0;
    const end = at + 2 + count * 12;
    if (count === 0 || end > bytes.length) {
      tiff.isCut ||= isBelow;
      continue;
    }
    if (count > maxEntries) continue;
    const entries = new Map<number, { type: number; at: number; count: number }>();
    for (let entry = at + 2; entry < end; entry += 12) {
      const [type, values] = [number(entry + 2, 2), number(entry + 4, 4)];
      const size = (bytesOfType[type] ?? 0) * values;
      const place = size <= 4 ? entry + 8 : number(entry + 8, 4);
      if (size > 0 && values <= maxValues && place + size <= bytes.length) {
        entries.set(number(entry, 2), { type, at: place, count: values });
      }
    }
    const directory: Directory = {
      has: (tag) => entries.has(tag),
      numbers: (tag) => {
        const entry = entries.get(tag);
        if (!entry) return [];
        const size = bytesOfType[entry.type] ?? 1;
        return Array.from({ length: entry.count }, (_, index) => number(entry.at + index * size, size));
      },
      text: (tag) => {
        const entry = entries.get(tag);
        return entry ? (bytes.toString('latin1', entry.at, entry.at + entry.count).split('\0')[0] ?? '').trim() : '';
      },
    };
    tiff.directories.push(directory);
    waiting.push(...directory.numbers(tags.subDirectories).map((below) => ({ at: below, isBelow: true })));
    if (end + 4 <= bytes.length) waiting.push({ at: number(end, 4), isBelow: false });
  }
  return tiff;
}
