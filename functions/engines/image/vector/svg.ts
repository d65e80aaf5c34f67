import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import sharp from 'sharp';
import { EngineError } from '../../runtime/engine.ts';
import { maxPixels, maxSvgBytes } from '../limits.ts';

/** At which libvips draws one pixel of a drawing as one pixel. */
export const naturalDensity = 72;

const inflate = promisify(gunzip);

export interface Drawing {
  bytes: Buffer;
  /** Size in pixels that the drawing declares. */
  width: number;
  height: number;
}

/**
 * Prepares a drawing to be rendered from memory: libvips then has no folder to resolve references against, and what
 * could make the parser read other files or expand endlessly is rejected beforehand.
 */
export async function prepareSvg(file: Buffer): Promise<Drawing> {
  const bytes = await inflated(file);
  if (bytes.length > maxSvgBytes) {
    throw new EngineError(`The drawing is larger than ${maxSvgBytes / 1024 / 1024} MB when decompressed.`);
  }
  const text = bytes.toString(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf16le' : 'utf8');
  if (/<!ENTITY/i.test(text)) {
    throw new EngineError(
      'The drawing declares XML entities, which are not allowed. Save it as plain SVG without a DOCTYPE.',
    );
  }
  const { width, height } = await sharp(bytes, { density: naturalDensity, limitInputPixels: false }).metadata();
  if (width * height > maxPixels) {
    throw new EngineError(
      `The drawing has more than ${maxPixels / 1_000_000} million pixels. Reduce its width and height.`,
    );
  }
  return { bytes, width, height };
}

async function inflated(file: Buffer): Promise<Buffer> {
  if (file[0] !== 0x1f || file[1] !== 0x8b) return file;
  try {
    return await inflate(file, { maxOutputLength: maxSvgBytes });
  } catch (error) {
    if (error instanceof RangeError) {
      throw new EngineError(`The drawing is larger than ${maxSvgBytes / 1024 / 1024} MB when decompressed.`);
    }
    throw error;
  }
}
