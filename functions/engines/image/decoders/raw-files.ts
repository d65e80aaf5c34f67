import { type Directory, readDirectories, type Tiff, tags } from './tiff-directories.ts';

/** Photometric interpretation of pixels behind colour filters. */
const mosaicked = 32_803;

/** Camera makers with raw files based on TIFF. Includes unsupported ones, so that their preview is not taken for the picture. */
const makes: [start: RegExp, format: string][] = [
  [/^nikon/i, 'nef'],
  [/^sony/i, 'arw'],
  [/^(?:pentax|ricoh|asahi)/i, 'pef'],
  [/^samsung/i, 'srw'],
  [/^hasselblad/i, '3fr'],
  [/^kodak|^eastman kodak/i, 'dcr'],
  [/^epson|^seiko epson/i, 'erf'],
  [/^mamiya/i, 'mef'],
  [/^leaf/i, 'mos'],
  [/^phase one/i, 'iiq'],
];

/** Detects raw files of cameras, and TIFFs that are not raw, from a file's first bytes. */
export function rawFormat(start: Buffer): string | undefined {
  const text = start.toString('latin1', 0, 16);
  if (text.startsWith('FUJIFILMCCD-RAW')) return 'raf';
  if (text.startsWith('ftypcrx ', 4)) return 'cr3';
  if (text.startsWith('IIU\0')) return 'rw2';
  if (/^(?:IIR[OS]|MMOR)/.test(text)) return 'orf';
  if (text.startsWith('II*\0') && text.startsWith('CR\x02', 8)) return 'cr2';
  const tiff = readDirectories(start);
  const [first] = tiff?.directories ?? [];
  if (!tiff || !first) return undefined;
  if (first.has(tags.dngVersion)) return 'dng';
  const make = first.text(tags.make);
  const format = makes.find(([pattern]) => pattern.test(make))?.[1];
  return format && isRecorded(tiff, first) ? format : 'tif';
}

/** Returns whether a TIFF is raw. Programs copy the camera's name into processed TIFFs, so the name is not enough. */
function isRecorded({ directories }: Tiff, first: Directory): boolean {
  if (directories.some((directory) => directory.numbers(tags.colours)[0] === mosaicked)) return true;
  // The directory of the picture may be beyond the first bytes. The first directory then declares a preview.
  return first.numbers(tags.subfileType)[0] === 1 && first.has(tags.subDirectories);
}

/** Returns the length that a raw file must have for its sensor image to be complete. */
export function rawLength(bytes: Buffer, format: string): number {
  if (format === 'raf') return fujifilmLength(bytes);
  if (format === 'cr3') return canonLength(bytes);
  const tiff = readDirectories(bytes);
  if (!tiff || tiff.isCut) throw new RangeError(`The directories of the ${format} are not whole.`);
  const [first] = tiff.directories;
  if (format === 'rw2' && first) return panasonicLength(first);
  // Previews are smaller than the picture.
  return tiff.directories
    .flatMap(picturesOf)
    .reduce((one, other) => (other.size > one.size ? other : one), { size: 0, end: 1 }).end;
}

/** The boxes from the movie to the one that holds the pictures. */
function canonLength(bytes: Buffer): number {
  for (let at = 0; ; ) {
    const [size, name] = [bytes.readUInt32BE(at), bytes.toString('latin1', at + 4, at + 8)];
    const end = at + (size === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : size);
    if (name === 'mdat' || end <= at) return end;
    at = end;
  }
}

/** Returns the end of the preview, the table of sizes or the sensor image, whichever comes last. */
function fujifilmLength(bytes: Buffer): number {
  return Math.max(...[84, 92, 100].map((at) => bytes.readUInt32BE(at) + bytes.readUInt32BE(at + 4)));
}

/** Pixels per 16 bytes by kind of packing, for 12 and 14 bits. Other kinds have a variable length. */
const panasonicPixels: Record<number, [number, number]> = { 4: [14, 14], 5: [10, 9], 6: [14, 11] };

function panasonicLength(directory: Directory): number {
  const tagsOfMaker = [0x02, 0x03, 0x0a, 0x2d, 0x118];
  const [width = 0, height = 0, bits, packing = 0, place = 0] = tagsOfMaker.map(
    (tag) => directory.numbers(tag)[0] ?? 0,
  );
  const [short, long] = panasonicPixels[packing] ?? [];
  const pixels = bits === 14 ? long : short;
  return place + (pixels ? Math.floor((width * height * 16) / pixels) : 1);
}

function picturesOf(directory: Directory): { size: number; end: number }[] {
  const places = [
    [tags.stripOffsets, tags.stripBytes],
    [tags.tileOffsets, tags.tileBytes],
  ] as const;
  return places.map(([offsets, sizes]) => {
    const lengths = directory.numbers(sizes);
    return {
      size: lengths.reduce((sum, length) => sum + length, 0),
      end: Math.max(0, ...directory.numbers(offsets).map((place, index) => place + (lengths[index] ?? 0))),
    };
  });
}
