import sharp from 'sharp';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { encodeWithSharp } from './encoders/encode.ts';
import { verifyOutput } from './encoders/verify.ts';
import { imageFormat } from './formats.ts';
import { still } from './openers/opened.ts';
import { numberOption, transform, wantedSize } from './transform.ts';

/** A picture that an engine has rendered without loss: a file, or its bytes. */
export interface RenderedPicture {
  source: string | Buffer;
  /** Canonical extension of the output, one that libvips writes. */
  format: string;
  options: OptionValues;
  /** Path of the output. */
  path: string;
}

/**
 * Returns the factor, at least 1, by which a drawing must be rendered larger so that its size options do not blur it.
 */
export function enlargement(
  drawing: { width: number; height: number },
  { format, options }: Pick<RenderedPicture, 'format' | 'options'>,
): number {
  const isTurned = Math.abs((numberOption(options, 'rotate') ?? 0) % 180) === 90;
  const size = isTurned ? { width: drawing.height, height: drawing.width } : drawing;
  const wanted = wantedSize(size, options, imageFormat(format).write ?? { by: 'sharp' });
  if (!wanted) return 1;
  const scales = [wanted.width / size.width, wanted.height / size.height];
  return Math.max(1, wanted.fit === 'contain' ? Math.min(...scales) : Math.max(...scales));
}

/** Resizes, recolours and encodes a rendered image according to its options, in one pass. */
export async function finishPicture({ source, format, options, path }: RenderedPicture): Promise<void> {
  const target = imageFormat(format);
  const { write } = target;
  if (write?.by !== 'sharp') throw new Error(`A rendered picture cannot become ${format}.`);
  // The renderer has checked the size.
  const frame = () => sharp(source, { limitInputPixels: false, sequentialRead: true });
  const { width, height, hasAlpha, density } = await frame().metadata();
  const picture = { ...still({ width, height, hasAlpha }), density, frame };
  const image = await transform(frame(), picture, { write, options });
  await encodeWithSharp(image, format, options, { density }).toFile(path);
  await verifyOutput(path, target);
}
