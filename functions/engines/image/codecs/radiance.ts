import { EngineError } from '../../runtime/engine.ts';
import { maxPixels, maxSide } from '../limits.ts';
import type { LinearPicture } from './linear-light.ts';

/** Decodes a Radiance picture. The 8 bits of linear light of ImageMagick would lose detail in shadows. */
export function readRadiance(file: Buffer): LinearPicture {
  const { width, height, bottomUp, rightToLeft, exposure, dataStart } = parseHeader(file);
  if (width * height > maxPixels || Math.max(width, height) > maxSide) {
    throw new EngineError(`The image has more than ${maxPixels / 1_000_000} million pixels. Scale it down first.`);
  }
  const data = new Float32Array(width * height * 3);
  const line = new Uint8Array(width * 4);
  let at = dataStart;
  for (let row = 0; row < height; row++) {
    at = readLine(file, at, line, width);
    const y = bottomUp ? height - 1 - row : row;
    for (let column = 0; column < width; column++) {
      const x = rightToLeft ? width - 1 - column : column;
      const exponent = line[column * 4 + 3] ?? 0;
      const scale = exponent === 0 ? 0 : 2 ** (exponent - 136) / exposure;
      const target = (y * width + x) * 3;
      for (let channel = 0; channel < 3; channel++) data[target + channel] = (line[column * 4 + channel] ?? 0) * scale;
    }
  }
  return { data, width, height, channels: 3 };
}

function parseHeader(file: Buffer) {
  const end = file.indexOf('\n\n');
  const sizeEnd = end < 0 ? -1 : file.indexOf('\n', end + 2);
  if (!file.subarray(0, 2).equals(Buffer.from('#?')) || sizeEnd < 0) throw new Error('The header is incomplete.');
  const header = file.toString('latin1', 0, end);
  if (/^FORMAT=32-bit_rle_xyze/m.test(header)) {
    throw new EngineError('Radiance images with XYZ colours are not supported. Save the image with RGB colours.');
  }
  const size = /^([+-])Y (\d{1,6}) ([+-])X (\d{1,6})$/.exec(file.toString('latin1', end + 2, sizeEnd));
  if (!size) throw new Error('The dimensions are invalid.');
  const exposure = [...header.matchAll(/^EXPOSURE=\s*([\d.eE+-]+)/gm)].reduce(
    (all, [, value]) => all * Number(value),
    1,
  );
  const [height, width] = [Number(size[2]), Number(size[4])];
  if (width === 0 || height === 0) throw new Error('The picture has no pixels.');
  return {
    width,
    height,
    bottomUp: size[1] === '+',
    rightToLeft: size[3] === '-',
    exposure: Number.isFinite(exposure) && exposure > 0 ? exposure : 1,
    dataStart: sizeEnd + 1,
  };
}

function readLine(file: Buffer, start: number, line: Uint8Array, width: number): number {
  let at = start;
  const next = () => {
    const byte = file[at++];
    if (byte === undefined) throw new Error('The picture ends early.');
    return byte;
  };
  const isNewRle = file[at] === 2 && file[at + 1] === 2 && ((file[at + 2] ?? 0) << 8) + (file[at + 3] ?? 0) === width;
  if (isNewRle && width >= 8 && width < 32_768) {
    at += 4;
    for (let channel = 0; channel < 4; channel++) {
      for (let column = 0; column < width; ) {
        const code = next();
        const count = code > 128 ? code - 128 : code;
        if (count === 0 || column + count > width) throw new Error('A run is longer than its line.');
        const run = code > 128 ? next() : undefined;
        for (let index = 0; index < count; index++) line[column++ * 4 + channel] = run ?? next();
      }
    }
    return at;
  }
  let shift = 0;
  for (let column = 0; column < width; ) {
    const pixel = [next(), next(), next(), next()] as const;
    if (pixel[0] === 1 && pixel[1] === 1 && pixel[2] === 1) {
      const count = pixel[3] << shift;
      if (column === 0 || column + count > width) throw new Error('A run is longer than its line.');
      for (let index = 0; index < count; index++, column++) line.copyWithin(column * 4, column * 4 - 4, column * 4);
      shift += 8;
    } else {
      line.set(pixel, column++ * 4);
      shift = 0;
    }
  }
  return at;
}

/** Encodes a Radiance picture. */
export function writeRadiance({ data, width, height, channels }: LinearPicture): Buffer {
  const parts: Buffer[] = [Buffer.from(`#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y ${height} +X ${width}\n`, 'latin1')];
  const compressed = width >= 8 && width < 32_768;
  for (let row = 0; row < height; row++) {
    const line = Buffer.alloc(width * 4);
    for (let column = 0; column < width; column++) {
      const at = (row * width + column) * channels;
      const pixel = [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0];
      const largest = Math.max(...pixel);
      if (largest < 1e-32) continue;
      const exponent = Math.floor(Math.log2(largest)) + 1;
      const scale = 256 / 2 ** exponent;
      line.set([...pixel.map((value) => Math.min(255, Math.floor(value * scale))), exponent + 128], column * 4);
    }
    if (compressed) {
      const planes = [0, 1, 2, 3].map((channel) => line.filter((_, at) => at % 4 === channel));
      parts.push(Buffer.from([2, 2, width >> 8, width & 255]), ...planes.map(encodeRuns));
    } else parts.push(line);
  }
  return Buffer.concat(parts);
}

function encodeRuns(plane: Uint8Array): Buffer {
  const result: number[] = [];
  for (let at = 0; at < plane.length; ) {
    let run = 1;
    while (run < 127 && at + run < plane.length && plane[at + run] === plane[at]) run++;
    if (run > 2) {
      result.push(128 + run, plane[at] ?? 0);
      at += run;
      continue;
    }
    const start = at;
    while (at < plane.length && at - start < 128) {
      if (at + 2 < plane.length && plane[at] === plane[at + 1] && plane[at] === plane[at + 2]) break;
      at++;
    }
    result.push(at - start, ...plane.subarray(start, at));
  }
  return Buffer.from(result);
}
