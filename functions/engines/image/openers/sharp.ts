import sharp, { type Metadata, type SharpOptions } from 'sharp';
import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import type { InputFile } from '../../runtime/engine.ts';
import type { Several } from '../formats.ts';
import { maxTotalPixels } from '../limits.ts';
import { checkFrames, checkSize, limits, type Opening, type Picture } from './opened.ts';

/** Opens what libvips decodes: an input, or other bytes or a file made from it. */
export async function openWithSharp(
  input: InputFile,
  { several }: { several?: Several | undefined },
  { options, tolerant = false }: Pick<Opening, 'options' | 'tolerant'>,
  source: string | Buffer = input.path,
): Promise<Picture> {
  const metadata = await sharp(source, limits).metadata();
  const { width, pageHeight: height = metadata.height } = metadata;
  const frames = several ? (metadata.pages ?? 1) : 1;
  checkSize(input, { width, height, frames });
  checkFrames(input, frames, width * height, maxTotalPixels);
  const how: SharpOptions = { ...limits, failOn: tolerant ? 'error' : 'warning' };
  const isAnimation = several === 'frames' && frames > 1;
  return {
    ...factsOf(metadata, options),
    frames,
    total: frames,
    hasPages: several === 'pages',
    delays: isAnimation ? (metadata.delay ?? []) : undefined,
    loop: metadata.loop ?? 0,
    frame: (index) => sharp(source, several ? { ...how, page: index, pages: 1 } : how),
    ...(frames > 1 && (isAnimation || (await allOfOneSize(source, frames, metadata)))
      ? { roll: (pages = -1) => sharp(source, { ...how, limitInputPixels: false, pages }) }
      : {}),
  };
}

type Facts = Pick<
  Picture,
  'width' | 'height' | 'hasAlpha' | 'deep' | 'isGrey' | 'isBilevel' | 'density' | 'orientation'
>;

/** Returns the properties that the header of a page or picture declares. */
export function factsOf(metadata: Metadata, options: OptionValues): Facts {
  const isStored = options['auto-orient'] === false;
  const seen = isStored ? metadata : metadata.autoOrient;
  const isGrey = metadata.channels <= 2;
  return {
    width: seen.width,
    height: metadata.pageHeight ?? seen.height,
    hasAlpha: metadata.hasAlpha,
    deep: metadata.depth === 'ushort',
    isGrey,
    isBilevel: isGrey && metadata.bitsPerSample === 1,
    density: metadata.density,
    orientation: isStored ? metadata.orientation : undefined,
  };
}

const sameOnAllPages = ['width', 'channels', 'depth', 'bitsPerSample', 'density', 'orientation'] as const;

/** Pages of a document may differ in size, and libvips then cannot hold them as one picture. */
async function allOfOneSize(source: string | Buffer, frames: number, first: Metadata): Promise<boolean> {
  for (let page = 1; page < frames; page++) {
    const other = await sharp(source, { ...limits, page }).metadata();
    if (other.height !== (first.pageHeight ?? first.height)) return false;
    if (sameOnAllPages.some((name) => other[name] !== first[name])) return false;
  }
  return true;
}
