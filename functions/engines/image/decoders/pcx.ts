import type { Frame } from '../codecs/magick.ts';

/** ImageMagick shows PCX pictures of one bit a pixel as negatives; other programs show a bit that is set as white. */
export function invertMonochrome(file: Buffer, format: string, frames: Frame[]): void {
  if (format !== 'pcx' && format !== 'dcx') return;
  for (const [index, frame] of frames.entries()) {
    // A DCX is a list of where each PCX in it starts.
    const start = format === 'dcx' ? file.readUInt32LE(4 + index * 4) : 0;
    const [bits, planes] = [file[start + 3], file[start + 65]];
    if (bits === 1 && planes === 1) frame.data = frame.data.map((value) => 255 - value);
  }
}
