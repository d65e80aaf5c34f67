import type { Frame } from '../codecs/magick.ts';
import { type Decoded, fromPalette, part, type Size, type SizeCheck, type Wanted } from './decoding.ts';

const [fliMark, flcMark, frameMark] = [0xaf11, 0xaf12, 0xf1fa];
const headerBytes = 128;

const chunkTypes = { colours: 4, wordDelta: 7, darkColours: 11, byteDelta: 12, black: 13, runs: 15, copy: 16 };

interface Screen extends Size {
  /** An index into the palette for each pixel. */
  pixels: Uint8Array;
  palette: Uint8Array;
}

/** Decodes an animation of Autodesk Animator (FLI) or Animator Pro (FLC). Each frame stores the changes to the one before. */
export function readFli(file: Buffer, check: SizeCheck, { all }: Wanted): Decoded {
  const mark = file.readUInt16LE(4);
  const [frames = 0, width = 0, height = 0, depth] = [6, 8, 10, 12].map((at) => file.readUInt16LE(at));
  if (mark !== fliMark && mark !== flcMark) throw new Error('The file has no FLI or FLC signature.');
  // Early files omit the depth, which was always 8.
  if (depth !== 8 && depth !== 0) throw new Error(`Animations with ${depth} bits per pixel are not supported.`);
  check({ width, height, frames: all ? frames : 1 });
  const speed = file.readUInt32LE(16);
  // FLI counts in 70ths of a second, the refresh rate of VGA.
  const delay = mark === fliMark ? Math.round((speed * 1000) / 70) : speed;
  const shown = all && frames > 1 ? Math.min(delay, 60_000) || 14 : undefined;

  const screen: Screen = {
    width,
    height,
    pixels: new Uint8Array(width * height),
    palette: Uint8Array.from({ length: 768 }, (_, at) => Math.floor(at / 3)),
  };
  const result: Frame[] = [];
  for (let at = headerBytes; result.length < (all ? frames : 1); ) {
    const size = file.readUInt32LE(at);
    if (size < 6) throw new Error(`A chunk of ${size} bytes is no chunk.`);
    if (file.readUInt16LE(at + 4) === frameMark) {
      // The padding byte is sometimes missing.
      const frame = file.subarray(at, at + size);
      if (frame.length < size - 1) throw new Error('The file ends within a frame.');
      drawFrame(frame, screen);
      result.push({ ...fromPalette(screen.pixels, screen.palette, screen), delay: shown });
    }
    at += size;
  }
  return { frames: result, total: frames };
}

function drawFrame(frame: Buffer, screen: Screen): void {
  const chunks = frame.readUInt16LE(6);
  let at = 16;
  for (let index = 0; index < chunks && at < frame.length; index++) {
    const size = frame.readUInt32LE(at);
    const type = frame.readUInt16LE(at + 4);
    if (size < 6) throw new Error(`A chunk of ${size} bytes is no chunk.`);
    drawChunk(type, frame.subarray(at + 6, at + size), screen);
    at += size;
  }
}

function drawChunk(type: number, data: Buffer, screen: Screen): void {
  const { pixels, palette } = screen;
  if (type === chunkTypes.colours) setColours(data, palette, 0);
  else if (type === chunkTypes.darkColours) setColours(data, palette, 2);
  else if (type === chunkTypes.wordDelta) drawWordDelta(data, screen);
  else if (type === chunkTypes.byteDelta) drawByteDelta(data, screen);
  else if (type === chunkTypes.black) pixels.fill(0);
  else if (type === chunkTypes.runs) drawRuns(data, screen);
  else if (type === chunkTypes.copy) pixels.set(part(data, 0, pixels.length));
  // Thumbnails, labels and similar chunks are not part of the frame.
}

function setColours(data: Buffer, palette: Uint8Array, shift: number): void {
  const packets = data.readUInt16LE(0);
  let [at, colour] = [2, 0];
  for (let packet = 0; packet < packets; packet++) {
    colour += data.readUInt8(at);
    const count = data.readUInt8(at + 1) || 256;
    for (const [index, value] of part(data, at + 2, count * 3).entries()) {
      const place = colour * 3 + index;
      if (place < palette.length) palette[place] = value << shift;
    }
    colour += count;
    at += 2 + count * 3;
  }
}

/** Decodes all lines, stored as runs and literal bytes. */
function drawRuns(data: Buffer, { width, height, pixels }: Screen): void {
  let at = 0;
  for (let y = 0; y < height; y++) {
    // The number of packets, which overflows for wide lines and is ignored.
    at += 1;
    const end = (y + 1) * width;
    for (let target = y * width; target < end; ) {
      const count = data.readInt8(at);
      const length = Math.abs(count);
      if (count === 0 || target + length > end) throw new Error(`Line ${y} is longer than the picture is wide.`);
      if (count < 0) pixels.set(part(data, at + 1, length), target);
      else pixels.fill(data.readUInt8(at + 1), target, target + length);
      target += length;
      at += count < 0 ? 1 + length : 2;
    }
  }
}

/** Decodes some consecutive lines, stored in packets that skip pixels and then set some. */
function drawByteDelta(data: Buffer, screen: Screen): void {
  const first = data.readUInt16LE(0);
  const lines = data.readUInt16LE(2);
  if (first + lines > screen.height) throw new Error('Lines below the picture are changed.');
  let at = 4;
  for (let y = first; y < first + lines; y++) {
    const packets = data.readUInt8(at);
    at = drawPackets(data, at + 1, packets, { screen, y, unit: 1 });
  }
}

/** Decodes some lines at any position, stored in packets of pixel pairs. */
function drawWordDelta(data: Buffer, screen: Screen): void {
  const { width, height, pixels } = screen;
  const lines = data.readUInt16LE(0);
  let [at, y] = [2, 0];
  for (let line = 0; line < lines; line++, y++) {
    let word = data.readUInt16LE(at);
    at += 2;
    while (word & 0x8000) {
      // If the next bit is set, the number of lines to skip. Otherwise the last pixel of a line of odd width.
      if (word & 0x4000) y += 0x1_0000 - word;
      else if (y < height) pixels[(y + 1) * width - 1] = word & 0xff;
      word = data.readUInt16LE(at);
      at += 2;
    }
    if (y >= height) throw new Error('Lines below the picture are changed.');
    at = drawPackets(data, at, word, { screen, y, unit: 2 });
  }
}

/** Draws the packets of a line: each skips pixels, and then sets or repeats some. Returns the position after them. */
function drawPackets(
  data: Buffer,
  start: number,
  packets: number,
  { screen, y, unit }: { screen: Screen; y: number; unit: 1 | 2 },
): number {
  const { width, pixels } = screen;
  let [at, x] = [start, 0];
  for (let packet = 0; packet < packets; packet++) {
    x += data.readUInt8(at);
    const count = data.readInt8(at + 1);
    const length = Math.abs(count) * unit;
    if (x + length > width) throw new Error(`Line ${y} is longer than the picture is wide.`);
    const stored = part(data, at + 2, count < 0 ? unit : length);
    for (let index = 0; index < length; index++) pixels[y * width + x + index] = stored[index % stored.length] ?? 0;
    x += length;
    at += 2 + stored.length;
  }
  return at;
}
