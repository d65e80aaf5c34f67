import { toScreenTone } from '../codecs/linear-light.ts';
import type { Frame } from '../codecs/magick.ts';

/** Inverts PCX pictures with one bit per pixel, which ImageMagick decodes as negatives: a set bit is white. */
export function invertMonochrome(file: Buffer, format: string, frames: Frame[]): void {
  if (format !== 'pcx' && format !== 'dcx') return;
  for (const [index, frame] of frames.entries()) {
    // A DCX starts with the positions of its PCX files.
    const start = format === 'dcx' ? file.readUInt32LE(4 + index * 4) : 0;
    const [bits, planes] = [file[start + 3], file[start + 65]];
    if (bits === 1 && planes === 1) frame.data = frame.data.map((value) => 255 - value);
  }
}

/** LibRaw applies the transfer curve of television (BT.709), but viewers expect that of screens (sRGB). */
const table = Uint8Array.from({ length: 256 }, (_, value) =>
  Math.round(255 * toScreenTone(fromTelevision(value / 255))),
);

/** Converts the decoded pixels of a raw file to the curve of screens, in place, because there may be hundreds of millions. */
export function correctTones(pixels: Uint8Array): void {
  for (let at = 0; at < pixels.length; at++) pixels[at] = table[pixels[at] ?? 0] ?? 0;
}

function fromTelevision(value: number): number {
  return value < 0.081_243 ? value / 4.5 : ((value + 0.099_297) / 1.099_297) ** (1 / 0.45);
}
