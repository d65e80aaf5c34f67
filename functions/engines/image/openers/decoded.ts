import { readFile } from 'node:fs/promises';
import type { InputFile } from '../../runtime/engine.ts';
import { decodeApng, parseApng } from '../codecs/apng.ts';
import { readExr } from '../codecs/exr.ts';
import { readRadiance } from '../codecs/radiance.ts';
import { readBlp } from '../decoders/blp.ts';
import type { Decoder } from '../decoders/decoding.ts';
import { readFli } from '../decoders/fli.ts';
import { readIcns } from '../decoders/icns.ts';
import { readIm } from '../decoders/im.ts';
import { readMsp } from '../decoders/msp.ts';
import { noImage } from '../failures.ts';
import type { Reading } from '../formats.ts';
import { decodeWithMagick } from './magick.ts';
import { fromFrames, fromLinear, type Opening, type Picture, sizeCheck } from './opened.ts';
import { openWithSharp } from './sharp.ts';

const decoders: Record<Reading<'decoder'>['format'], Decoder> = {
  blp: readBlp,
  fli: readFli,
  icns: readIcns,
  im: readIm,
  msp: readMsp,
};

/** Opens a format that only the decoders of this engine read. */
export async function openDecoded(
  input: InputFile,
  { format, several }: Reading<'decoder'>,
  { options, several: takesSeveral }: Opening,
): Promise<Picture> {
  const all = options.page !== undefined || several === 'pages' || (takesSeveral && several !== 'sizes');
  const decoded = await decoders[format](await readFile(input.path), sizeCheck(input), { all });
  return fromFrames(decoded.frames, { ...decoded, several });
}

/** Opens an animated PNG. */
export async function openApng(
  input: InputFile,
  _read: Reading<'apng'>,
  { options, several }: Opening,
): Promise<Picture> {
  const file = await readFile(input.path);
  const apng = parseApng(file);
  // With at most one frame, the default image is the picture.
  if (apng.frames.length <= 1) return openWithSharp(input, {}, { options }, file);
  const wantsOne = !several && options.page === undefined;
  sizeCheck(input)({ width: apng.width, height: apng.height, frames: apng.frames.length });
  const frames = await decodeApng(wantsOne ? { ...apng, frames: apng.frames.slice(0, 1) } : apng);
  return fromFrames(frames, { loop: apng.loop, total: apng.frames.length, several: 'frames' });
}

/** Opens a Radiance picture. */
export async function openRadiance(input: InputFile): Promise<Picture> {
  return fromLinear(readRadiance(await readFile(input.path)));
}

/** Opens an OpenEXR picture: in full precision if its kind is known here, otherwise with ImageMagick. */
export async function openExr(input: InputFile, _read: Reading<'exr'>, { options }: Opening): Promise<Picture> {
  const file = await readFile(input.path);
  const picture = readExr(file);
  if (picture) return fromLinear(picture);
  const { frames } = await decodeWithMagick(input, file, {
    format: 'EXR',
    take: { frame: 0 },
    autoOrient: options['auto-orient'] !== false,
  });
  const [frame] = frames;
  if (!frame || frame.channels === 1) throw noImage(input);
  const data = Float32Array.from(frame.data, (value) => value / 255);
  return fromLinear({ data, width: frame.width, height: frame.height, channels: frame.channels });
}
