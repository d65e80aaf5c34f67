import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { int32 } from './bytes.ts';
import type { Frame } from './magick.ts';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

interface Chunk {
  type: string;
  data: Buffer;
}

interface FrameControl {
  width: number;
  height: number;
  x: number;
  y: number;
  delay: number;
  dispose: 'none' | 'background' | 'previous';
  blend: 'source' | 'over';
}

export interface Apng {
  width: number;
  height: number;
  loop: number;
  frames: { control: FrameControl; data: Buffer[] }[];
  /** Chunks that every frame needs to be decoded, such as the palette. */
  shared: Chunk[];
  header: Buffer;
}

/** Splits an animated PNG without decoding it. */
export function parseApng(file: Buffer): Apng {
  const chunks = parseChunks(file);
  const header = chunks[0]?.type === 'IHDR' ? chunks[0].data : undefined;
  if (header?.length !== 13) throw new Error('The PNG has no header.');
  const apng: Apng = {
    width: header.readUInt32BE(0),
    height: header.readUInt32BE(4),
    loop: 0,
    frames: [],
    shared: [],
    header,
  };
  let sawData = false;
  for (const { type, data } of chunks) {
    if (type === 'acTL') apng.loop = data.readUInt32BE(4);
    else if (type === 'fcTL') apng.frames.push({ control: parseControl(data, apng), data: [] });
    else if (type === 'IDAT') {
      sawData = true;
      // Without a frame control before it, the default image is not part of the animation.
      apng.frames.at(-1)?.data.push(data);
    } else if (type === 'fdAT') apng.frames.at(-1)?.data.push(data.subarray(4));
    else if (!sawData && !['IHDR', 'eXIf', 'iTXt', 'tEXt', 'zTXt'].includes(type)) apng.shared.push({ type, data });
  }
  if (chunks.at(-1)?.type !== 'IEND') throw new Error('The PNG ends early.');
  apng.frames = apng.frames.filter(({ data }) => data.length > 0);
  return apng;
}

function parseChunks(file: Buffer): Chunk[] {
  if (!file.subarray(0, 8).equals(signature)) throw new Error('The file is not a PNG.');
  const chunks: Chunk[] = [];
  let at = 8;
  while (at + 12 <= file.length) {
    const length = file.readUInt32BE(at);
    if (at + 12 + length > file.length) break;
    const type = file.toString('latin1', at + 4, at + 8);
    if (crc32(file.subarray(at + 4, at + 8 + length)) !== file.readUInt32BE(at + 8 + length)) {
      throw new Error(`The checksum of the chunk ${type} is wrong.`);
    }
    chunks.push({ type, data: file.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
    if (type === 'IEND') break;
  }
  return chunks;
}

function parseControl(data: Buffer, { width, height }: Apng): FrameControl {
  const numerator = data.readUInt16BE(20);
  const denominator = data.readUInt16BE(22) || 100;
  const control: FrameControl = {
    width: data.readUInt32BE(4),
    height: data.readUInt32BE(8),
    x: data.readUInt32BE(12),
    y: data.readUInt32BE(16),
    delay: (numerator / denominator) * 1000,
    dispose: (['none', 'background', 'previous'] as const)[data[24] ?? 0] ?? 'none',
    blend: data[25] === 1 ? 'over' : 'source',
  };
  if (control.x + control.width > width || control.y + control.height > height) {
    throw new Error('A frame is outside the image.');
  }
  return control;
}

/** Decodes the frames of an animated PNG into whole pictures. */
export async function decodeApng(apng: Apng): Promise<Frame[]> {
  const { width, height } = apng;
  const canvas = Buffer.alloc(width * height * 4);
  const frames: Frame[] = [];
  for (const { control, data } of apng.frames) {
    const header = Buffer.from(apng.header);
    header.writeUInt32BE(control.width, 0);
    header.writeUInt32BE(control.height, 4);
    const png = joinChunks([
      { type: 'IHDR', data: header },
      ...apng.shared,
      { type: 'IDAT', data: Buffer.concat(data) },
      { type: 'IEND', data: Buffer.alloc(0) },
    ]);
    const pixels = await sharp(png).toColourspace('srgb').ensureAlpha().raw().toBuffer();
    const before = control.dispose === 'previous' ? Buffer.from(canvas) : undefined;
    draw(canvas, width, pixels, control);
    frames.push({ data: Buffer.from(canvas), width, height, channels: 4, delay: control.delay });
    if (before) before.copy(canvas);
    else if (control.dispose === 'background') {
      for (let row = 0; row < control.height; row++) {
        const start = ((control.y + row) * width + control.x) * 4;
        canvas.fill(0, start, start + control.width * 4);
      }
    }
  }
  return frames;
}

function draw(canvas: Buffer, canvasWidth: number, pixels: Buffer, { x, y, width, height, blend }: FrameControl): void {
  for (let row = 0; row < height; row++) {
    const target = ((y + row) * canvasWidth + x) * 4;
    const source = row * width * 4;
    if (blend === 'source') pixels.copy(canvas, target, source, source + width * 4);
    else for (let at = 0; at < width * 4; at += 4) blendPixel(canvas, target + at, pixels, source + at);
  }
}

function blendPixel(canvas: Buffer, target: number, pixels: Buffer, source: number): void {
  const alpha = (pixels[source + 3] ?? 0) / 255;
  if (alpha === 0) return;
  const below = ((canvas[target + 3] ?? 0) / 255) * (1 - alpha);
  const result = alpha + below;
  for (let channel = 0; channel < 3; channel++) {
    const over = pixels[source + channel] ?? 0;
    const under = canvas[target + channel] ?? 0;
    canvas[target + channel] = Math.round((over * alpha + under * below) / result);
  }
  canvas[target + 3] = Math.round(result * 255);
}

/** Joins PNGs of the same size into an animated one. Each frame covers the whole image. */
export function joinApng(frames: { png: Buffer; delay: number }[], loop: number): Buffer {
  const chunks: Chunk[] = [];
  let sequence = 0;
  for (const [index, { png, delay }] of frames.entries()) {
    const parsed = parseChunks(png);
    const header = parsed[0]?.data;
    if (!header) throw new Error('A frame has no header.');
    if (index === 0) {
      chunks.push({ type: 'IHDR', data: header }, { type: 'acTL', data: int32(frames.length, loop).swap32() });
    }
    const control = Buffer.alloc(26);
    int32(sequence++, header.readUInt32BE(0), header.readUInt32BE(4)).swap32().copy(control);
    control.writeUInt16BE(Math.min(65_535, Math.round(delay)), 20);
    control.writeUInt16BE(1000, 22);
    chunks.push({ type: 'fcTL', data: control });
    for (const { type, data } of parsed) {
      if (type !== 'IDAT') continue;
      if (index === 0) chunks.push({ type, data });
      else chunks.push({ type: 'fdAT', data: Buffer.concat([int32(sequence++).swap32(), data]) });
    }
  }
  return joinChunks([...chunks, { type: 'IEND', data: Buffer.alloc(0) }]);
}

function joinChunks(chunks: Chunk[]): Buffer {
  const parts = chunks.flatMap(({ type, data }) => {
    const name = Buffer.from(type, 'latin1');
    return [int32(data.length).swap32(), name, data, int32(crc32(data, crc32(name))).swap32()];
  });
  return Buffer.concat([signature, ...parts]);
}
