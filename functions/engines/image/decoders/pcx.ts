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
