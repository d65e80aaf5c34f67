import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import { EngineError } from '../../runtime/engine.ts';
import { ghostscript, postScriptError, withoutDirectoryWalks } from '../../runtime/ghostscript.ts';
import { damagedPdf, runTool, type Workspace } from '../../runtime/pdf-file.ts';
import { replacePages } from '../../runtime/pdf-join.ts';
import { ProgramError } from '../../runtime/program.ts';

/** Converts PostScript to PDF. */
export async function distill(input: string, output: string, space: Workspace): Promise<void> {
  try {
    await ghostscript(input, output, ['-dEPSCrop', ...withoutDirectoryWalks], [], space);
  } catch (error) {
    const cause = error instanceof EngineError ? error.cause : undefined;
    const { said, asksForFiles } = postScriptError(cause instanceof ProgramError ? cause.stdout : '');
    if (!asksForFiles) throw error;
    throw new EngineError('The PostScript program reads, writes or lists files, which is not allowed.', {
      detail: said,
      cause,
    });
  }
}

/** A PDF to compress. */
export interface Compressible {
  path: string;
  /** Whether it has bookmarks, names or form fields: Ghostscript drops most of them. */
  isStructured: boolean;
}

/** Rewrites the pages of a PDF and keeps everything else. */
async function rewritePages(
  { path, isStructured }: Compressible,
  output: string,
  args: string[],
  reads: string[],
  space: Workspace,
): Promise<void> {
  // Presets would rotate pages by the direction of their text.
  const all = ['-dCompatibilityLevel=1.6', '-dAutoRotatePages=/None', ...args];
  if (!isStructured) return ghostscript(path, output, all, reads, space);
  const pages = join(space.folder, 'pages.pdf');
  const joined = join(space.folder, 'joined.pdf');
  await ghostscript(path, pages, ['-dShowAnnots=false', '-dPreserveAnnots=false', ...all], reads, space);
  try {
    const load = async (file: string) => PDFDocument.load(await readFile(file), { updateMetadata: false });
    const pdf = await load(path);
    replacePages(pdf, await load(pages));
    await writeFile(joined, await pdf.save());
  } catch (error) {
    // Ghostscript may write a file without pages if the page tree is circular.
    throw damagedPdf(error);
  }
  // Removes objects that are no longer referenced.
  await runTool('qpdf', ['--warning-exit-0', '--object-streams=generate', joined, output], space);
}

/** Rewrites a PDF with one of Distiller's presets. */
export async function compressByPreset(pdf: Compressible, output: string, preset: string, space: Workspace) {
  await rewritePages(pdf, output, [`-dPDFSETTINGS=/${preset}`], [], space);
}

export interface PictureSettings {
  dpi: number;
  /** Compression: JPEG with colours at half or full resolution, or lossless. */
  packing: 'half-colour' | 'full-colour' | 'lossless';
  /** On Distiller's scale: 0.01 is nearly lossless, 2.5 is coarse. Absent for lossless compression. */
  factor: number;
}

const pictureKinds = ['Color', 'Gray'];

/** Rewrites a PDF with its images at a resolution and JPEG quality factor. A higher factor makes a smaller file. */
export async function compressBySettings(
  pdf: Compressible,
  output: string,
  { dpi, packing, factor }: PictureSettings,
  space: Workspace,
): Promise<void> {
  const samples = packing === 'half-colour' ? '[2 1 1 2]' : '[1 1 1 1]';
  const pictures = `<< /QFactor ${factor.toFixed(5)} /Blend 1 /HSamples ${samples} /VSamples ${samples} >>`;
  const parameters = join(space.folder, 'distiller.ps');
  await writeFile(parameters, `<< /ColorImageDict ${pictures} /GrayImageDict ${pictures} >> setdistillerparams\n`);
  const kinds = pictureKinds.flatMap((kind) => [
    `-dDownsample${kind}Images=true`,
    `-d${kind}ImageDownsampleType=/Bicubic`,
    `-d${kind}ImageDownsampleThreshold=1.0`,
    `-d${kind}ImageResolution=${Math.round(dpi)}`,
    `-dAutoFilter${kind}Images=false`,
    `-d${kind}ImageFilter=/${packing === 'lossless' ? 'FlateEncode' : 'DCTEncode'}`,
  ]);
  const mono = [
    '-dDownsampleMonoImages=true',
    '-dMonoImageDownsampleThreshold=1.0',
    `-dMonoImageResolution=${Math.round(dpi * 2)}`,
  ];
  // Otherwise images that are not downsampled would be copied unchanged, ignoring the quality.
  const args = ['-dPassThroughJPEGImages=false', ...kinds, ...mono, parameters];
  await rewritePages(pdf, output, args, [parameters], space);
}

/** Rewrites a PDF with unchanged images. Everything else becomes smaller. */
export async function rewritePdf(pdf: Compressible, output: string, space: Workspace): Promise<void> {
  const kinds = pictureKinds.flatMap((kind) => [
    `-dDownsample${kind}Images=false`,
    `-dAutoFilter${kind}Images=false`,
    `-d${kind}ImageFilter=/FlateEncode`,
  ]);
  const args = ['-dPassThroughJPEGImages=true', '-dDownsampleMonoImages=false', ...kinds];
  await rewritePages(pdf, output, args, [], space);
}
