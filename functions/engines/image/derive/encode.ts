import type { Sharp } from 'sharp';
import type { PictureFormat } from '../../../../shared/pictures/picture.ts';
import { EngineError } from '../../runtime/engine.ts';
import { int32 } from '../codecs/bytes.ts';
import { writeMagick } from '../codecs/magick.ts';
import { toFrame } from '../encoders/encode.ts';

/** Properties of the source that the encoder needs. */
export interface EncodingFacts {
  /** Bits per pixel of a source with a palette. Its derivatives in PNG and GIF have one too. */
  paletteBits?: number | undefined;
  /** Durations in milliseconds of an animation. */
  timing?: { delay: number[]; loop: number };
}

/** Formats with a maximum number of pixels per side. Larger results are scaled down. */
export const maxSides: Partial<Record<PictureFormat, number>> = { webp: 16_383, avif: 16_384, ico: 256 };
/** Formats that can hold more than 8 bits per channel here. */
export const deepFormats: ReadonlySet<PictureFormat> = new Set<PictureFormat>(['png', 'tiff']);
/** Formats that store grey images in one channel. */
export const greyFormats: ReadonlySet<PictureFormat> = new Set<PictureFormat>(['jpg', 'png', 'tiff']);

type Encoder = (image: Sharp, quality: number, facts: EncodingFacts) => Promise<Uint8Array>;

/** Encoders with the settings of imgproxy. */
const encoders: Partial<Record<PictureFormat, Encoder>> = {
  jpg: (image, quality) => image.jpeg({ quality, chromaSubsampling: subsampling(quality) }).toBuffer(),
  png: (image, _quality, { paletteBits }) =>
    image
      .png(
        paletteBits === undefined
          ? { compressionLevel: 6, adaptiveFiltering: true }
          : { compressionLevel: 6, palette: true, colours: 2 ** paletteBits },
      )
      .toBuffer(),
  webp: (image, quality, { timing }) => image.webp({ quality, effort: 4, ...timing }).toBuffer(),
  avif: (image, quality) => image.avif({ quality, effort: 1, chromaSubsampling: subsampling(quality) }).toBuffer(),
  gif: (image, _quality, { paletteBits = 8, timing }) =>
    image.gif({ colours: 2 ** paletteBits, reuse: false, ...timing }).toBuffer(),
  tiff: (image) => image.tiff({ compression: 'lzw', predictor: 'horizontal' }).toBuffer(),
  jxl: async (image, quality) => writeMagick([await toFrame(image.toColourspace('srgb'))], { format: 'JXL', quality }),
  bmp: async (image) => writeMagick([await toFrame(image.toColourspace('srgb'))], { format: 'BMP' }),
  ico: async (image) => {
    const { data, info } = await image.png().toBuffer({ resolveWithObject: true });
    // One picture. 0 stands for 256, which does not fit in a byte. One plane of 32 bits.
    const sides = Buffer.from([info.width % 256, info.height % 256]);
    return Buffer.concat([
      Buffer.from([0, 0, 1, 0, 1, 0]),
      sides,
      Buffer.from([0, 0, 1, 0, 32, 0]),
      int32(data.length, 22),
      data,
    ]);
  },
};

const losslessFormats: ReadonlySet<PictureFormat> = new Set<PictureFormat>(['png', 'gif', 'tiff', 'bmp', 'ico']);

/** Above this quality, a halved colour resolution would be the most visible loss. */
function subsampling(quality: number): '4:4:4' | '4:2:0' {
  return quality >= 90 ? '4:4:4' : '4:2:0';
}

/** Encodes a picture. With a maximum number of bytes, lowers the quality until the file is small enough or looks bad. */
export async function encodePicture(
  image: Sharp,
  format: PictureFormat,
  quality: number,
  maxBytes: number,
  facts: EncodingFacts,
): Promise<Uint8Array> {
  const encode = encoders[format];
  if (!encode)
    throw new EngineError(
      `Expected an output format other than ${format}, which this engine does not write. Use avif or webp.`,
    );
  if (maxBytes === 0 || losslessFormats.has(format)) return encode(image, quality, facts);
  for (let current = quality; ; ) {
    const bytes = await encode(image.clone(), current, facts);
    if (bytes.length <= maxBytes || current <= 10) return bytes;
    const excess = bytes.length / maxBytes;
    const factor = excess > 3 ? 0.25 : excess > 1.5 ? 0.5 : 0.75;
    current = Math.max(1, Math.min(current - 1, Math.round(current * factor)));
  }
}
