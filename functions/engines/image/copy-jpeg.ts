import { readFile, writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { InputFile } from '../runtime/engine.ts';
import { findProgram } from '../runtime/find-program.ts';
import { ProgramError, runProgram } from '../runtime/program.ts';
import { isSrgb, jpegBlock, setJpegDensity, stripJpeg, turningArguments } from './codecs/jpeg.ts';
import type { Picture } from './openers/opened.ts';
import { keepsPixels, numberOption, type Target, textOption } from './transform.ts';
import { limited, type ProgramContext } from './vector/postscript.ts';

const copyTimeoutMs = 120_000;

/** Rewrites a JPEG as another one without decoding it, so that nothing is lost. Returns false if that is not possible. */
export async function copyJpeg(
  input: InputFile,
  picture: Picture,
  target: Target,
  path: string,
  context: ProgramContext,
): Promise<boolean> {
  const { options, cut } = target;
  const isChanged = ['quality', 'jpg_convert_compression_level'].some((name) => options[name] !== undefined);
  if (isChanged || !keepsPixels(picture, target)) return false;
  if (!['srgb', undefined].includes(textOption(options, 'color_space'))) return false;
  const metadata = await picture.frame(0).metadata();
  const { orientation = 1, channels, icc } = metadata;
  const isTurned = options['auto-orient'] !== false;
  // The orientation would be lost with the rest of EXIF, or not match the pixels.
  if ((channels !== 1 && channels !== 3) || !isSrgb(icc) || (orientation !== 1 && !isTurned)) return false;
  const angle = numberOption(options, 'rotate') ?? 0;
  const turning = turningArguments({ orientation, angle, flip: textOption(options, 'flip') });
  const keepsAll = options.strip === false;
  if ((cut || keepsAll) && turning.length > 0) return false;
  const block = jpegBlock(metadata);
  if (cut && (keepsAll || cut.left % block !== 0 || cut.top % block !== 0)) return false;
  const dpi = numberOption(options, 'image_dpi') ?? picture.density;
  const isPlain = turning.length === 0 && !cut && !keepsAll && !metadata.isProgressive && options.progressive !== true;
  if (isPlain && (await copyPixels(input.path, path, dpi))) return true;
  if (!(await findProgram('jpegtran'))) return false;
  const args = [
    ...['-copy', keepsAll ? 'all' : 'none', '-optimize', '-perfect', '-maxscans', '100'],
    ...(options.progressive === true ? ['-progressive'] : []),
    ...turning,
    ...(cut ? ['-crop', `${cut.width}x${cut.height}+${cut.left}+${cut.top}`] : []),
    ...['-outfile', path, input.path],
  ];
  const { folder, signal } = context;
  try {
    await limited(input, context, () =>
      runProgram('jpegtran', args, { cwd: folder, signal, timeoutMs: copyTimeoutMs }),
    );
  } catch (error) {
    // The sides are not whole blocks, or the file is damaged. The decoder describes the damage.
    if (error instanceof ProgramError) return false;
    throw error;
  }
  if (dpi !== undefined && !(keepsAll && options.image_dpi === undefined)) {
    const file = await readFile(path);
    if (!setJpegDensity(file, dpi)) return false;
    await writeFile(path, file);
  }
  return true;
}

/** Copies a JPEG without its metadata. Returns false if the file is damaged or cannot store the resolution. */
async function copyPixels(from: string, to: string, dpi: number | undefined): Promise<boolean> {
  const file = stripJpeg(await readFile(from));
  if (dpi !== undefined && !setJpegDensity(file, dpi)) return false;
  // Reads the whole file, but calculates only an eighth of the pixels.
  const check = sharp(file, { failOn: 'warning', limitInputPixels: false })
    .resize(1, 1, { fit: 'fill' })
    .raw()
    .toBuffer();
  if (!(await check.catch(() => undefined))) return false;
  await writeFile(to, file);
  return true;
}
