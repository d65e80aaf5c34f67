import sharp from 'sharp';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { EngineError, type InputFile } from '../runtime/engine.ts';
import { explain } from './failures.ts';
import { imageFormat, type Reading } from './formats.ts';
import { openApng, openDecoded, openExr, openRadiance } from './openers/decoded.ts';
import { openPostScript, openSvg } from './openers/drawings.ts';
import { openWithMagick } from './openers/magick.ts';
import type { Opener, Opening, Picture } from './openers/opened.ts';
import { factsOf, openWithSharp } from './openers/sharp.ts';
import { openTiff } from './openers/tiff.ts';

// A conversion uses all cores and runs alone. A cache would only keep the pixels of earlier tasks in memory.
sharp.cache(false);

/** The openers by the names that formats.ts uses: the table there lists the opener of each format. */
const openers: { [By in Reading['by']]: Opener<By> } = {
  apng: openApng,
  decoder: openDecoded,
  exr: openExr,
  ghostscript: openPostScript,
  hdr: openRadiance,
  magick: openWithMagick,
  sharp: openWithSharp,
  svg: openSvg,
  tiff: openTiff,
};

/** Opens an input, decoding no more of it than needed. */
export async function openPicture(input: InputFile, opening: Opening): Promise<Picture> {
  const { read } = imageFormat(input.format);
  if (!read) throw new Error(`The catalogue lists ${input.format}, which this engine does not read.`);
  if (input.size === 0) throw new EngineError(`The file ${JSON.stringify(input.name)} is empty.`);
  try {
    return await open(input, read, opening);
  } catch (error) {
    throw explain(error, input);
  }
}

// Generic, so that the compiler knows that an opener receives its own kind of `read`.
function open<By extends Reading['by']>(input: InputFile, read: Reading<By>, opening: Opening): Promise<Picture> {
  return openers[read.by](input, read, opening);
}

/**
 * Processes an input. If the decoder warns about bytes between the segments of a JPEG, processes it again and ignores
 * the warning: some cameras write such files, and they decode correctly. Any other warning means damage.
 */
export async function readingLeniently<T>(input: InputFile, process: (tolerant: boolean) => Promise<T>): Promise<T> {
  try {
    return await process(false);
  } catch (error) {
    const said = error instanceof EngineError ? error.detail : error instanceof Error ? error.message : '';
    if (input.format === 'jpg' && /extraneous bytes before marker/.test(said)) return process(true);
    throw error;
  }
}

/** Returns one of several pages, which may differ in size, colours and resolution, as a picture. */
export async function singlePage(picture: Picture, index: number, options: OptionValues): Promise<Picture> {
  const { roll: _, ...rest } = picture;
  const frame = () => picture.frame(index);
  const single = { ...rest, frames: 1, frame };
  if (picture.frames === 1 || !picture.hasPages) return single;
  const metadata = await frame().metadata();
  const facts = factsOf(metadata, options);
  // Decoded pixels have no resolution of their own.
  return { ...single, ...facts, density: metadata.format === 'raw' ? picture.density : facts.density };
}

/** Warns about the frames of an animation that are missing in an output with a single frame. */
export function missingFrames(
  input: InputFile,
  { total, hasPages }: Pick<Picture, 'total' | 'hasPages'>,
  format: string,
  { page }: OptionValues,
): string[] {
  if (hasPages || total < 2 || page !== undefined) return [];
  return [
    `The animation ${JSON.stringify(input.name)} has ${total} frames. Only the first is converted, because ${format} does not support animations. Choose another frame with the option page, or convert to gif, webp or apng to keep all of them.`,
  ];
}
