import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { changesPicture } from '../../image/encoding-options.ts';
import { type PageSize, pageSizes } from '../../image/vector/pdf-pages.ts';
import { EngineError } from '../../runtime/engine.ts';
import { justifiedSeconds } from '../../runtime/justified-time.ts';
import { checkFileCount } from '../../runtime/outputs.ts';
import { type Pdf, type Programs, runTool, type Workspace } from '../../runtime/pdf-file.ts';
import { pictureOptions } from '../options.ts';

/** Rendering larger images takes gigabytes of memory. */
const maxPixels = 120_000_000;
/** Larger pages are rendered small first, to find those that are slow at any size before allowing minutes for them. */
const trialPixels = 20_000_000;
const trialSide = 200;

/** Converts a PDF to one HTML page of the same appearance, with inline images. */
export async function writeHtml(pdf: Pdf, output: string, space: Workspace): Promise<void> {
  const options = '-q -s -c -noframes -dataurls -zoom 1.33 -enc UTF-8 -nodrm'.split(' ');
  await runTool('pdftohtml', [...options, pdf.path, output], space);
  const page = await readFile(output, 'utf8');
  const tidy = page
    // The program writes the path of the file as the title, and repeats the headings after the last page.
    .replace(/<title>[^<]*<\/title>/i, '<title>Document</title>')
    .replace(/<a name="outline"><\/a>[\s\S]*?(?=<\/body>)/i, '')
    .replaceAll(/>[^<]+</g, (text) => text.replaceAll(rightToLeft, (run) => [...run].reverse().join('')));
  await writeFile(output, tidy);
}

/** A run of Hebrew or Arabic, which the program writes in visual order, from the left. */
const rightToLeft =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc](?:[\s\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])?/g;

/** Writes a PDF as PostScript, or as an encapsulated page. */
export async function writePostScript(pdf: Pdf, output: string, space: Workspace, page?: number): Promise<void> {
  const only = page === undefined ? [] : ['-eps', ...onlyPage(page)];
  await runTool('pdftops', [...only, pdf.path, output], space);
}

const onlyPage = (number: number) => ['-f', String(number), '-l', String(number)];

/** The pages that a task draws, with the sizes of all pages of their PDF. */
export interface Drawing {
  pdf: Pdf;
  pages: number[];
  sizes: PageSize[];
  request: ImageRequest;
}

export interface ImageRequest {
  format: 'png' | 'jpg' | 'webp' | 'tiff' | 'svg' | 'eps';
  dpi: number;
  /** The requested options, including those of the images. */
  options: OptionValues;
}

/** Returns how to render the pages of a task. */
export function imageRequest(format: ImageRequest['format'], options: OptionValues): ImageRequest {
  return { format, dpi: Number(options.image_dpi ?? 150), options };
}

/**
 * Returns the sizes of all pages, from the first, or nothing for vector formats. Throws if there are too many of the given pages, or
 * one is too large.
 */
export async function measurePages(
  pdf: Pdf,
  pages: number[],
  { format, dpi }: ImageRequest,
  space: Programs,
): Promise<PageSize[]> {
  // A TIFF holds all pages.
  if (format !== 'tiff') checkFileCount(pages.length, 'Choose fewer pages with page_range.');
  if (format === 'svg' || format === 'eps') return [];
  const facts = ['-f', '1', '-l', String(pdf.pages), pdf.path];
  const sizes = pageSizes((await runTool('pdfinfo', facts, space)).stdout);
  for (const page of pages) checkPixels({ number: page, size: sizes[page - 1] }, dpi);
  return sizes;
}

/** Renders pages, each to its own file, and returns each file with its page. */
export async function drawPages(
  { pdf, pages, sizes, request }: Drawing,
  space: Workspace,
): Promise<{ page: number; path: string }[]> {
  const { size: bytes } = await stat(pdf.path);
  const drawn: { page: number; path: string }[] = [];
  for (const [index, page] of pages.entries()) {
    const path = join(space.folder, `page-${index}.${request.format}`);
    await drawPage({ ...pdf, bytes }, { number: page, size: sizes[page - 1] }, request, path, space);
    drawn.push({ page, path });
    space.progress(50 + ((index + 1) / pages.length) * 50);
  }
  return drawn;
}

interface Page {
  /** From 1. */
  number: number;
  /** For a page that is rendered to pixels. */
  size: PageSize | undefined;
}

type SizedPdf = Pdf & { bytes: number };

/** Limits the processor time for rendering a page. */
async function limitByPixels({ path, bytes }: SizedPdf, { number, size }: Page, dpi: number, space: Workspace) {
  const pixels = size ? pixelsOf(size, dpi) : 0;
  if (pixels > trialPixels) {
    space.limitProcessorTime(justifiedSeconds({ bytes, pages: 1 }));
    const only = [...onlyPage(number), '-singlefile', '-scale-to', String(trialSide)];
    await runTool('pdftocairo', ['-png', ...only, path, join(space.folder, 'trial')], space);
  }
  space.limitProcessorTime(justifiedSeconds({ bytes, pages: 1, pixels }));
}

/** Options that poppler applies when it renders. */
const followed = ['image_dpi', 'quality', 'jpg_convert_compression_level'];

async function drawPage(pdf: SizedPdf, page: Page, request: ImageRequest, path: string, space: Workspace) {
  const { format, dpi, options } = request;
  await limitByPixels(pdf, page, dpi, space);
  if (format === 'eps') return writePostScript(pdf, path, space, page.number);
  const only = onlyPage(page.number);
  if (format === 'svg') {
    await runTool('pdftocairo', ['-svg', ...only, pdf.path, path], space);
    if (!(await readFile(path, 'utf8')).includes('<svg')) throw undrawn(page);
    return;
  }
  if (changesPicture(options, pictureOptions(format), followed)) return drawFinished(pdf, page, request, path, space);
  const quality = Math.round(Number(options.jpg_convert_compression_level ?? options.quality ?? 85));
  const stem = path.slice(0, -(format.length + 1));
  const [extension, ...kind] = {
    png: ['png', '-png'],
    jpg: ['jpg', '-jpeg', '-jpegopt', `quality=${quality},optimize=y`],
    webp: ['png', '-png'],
    tiff: ['tif', '-tiff', '-tiffcompression', 'deflate'],
  }[format];
  const args = [...kind, ...only, '-cropbox', '-r', String(dpi), '-singlefile', pdf.path, stem];
  await runTool('pdftocairo', args, space);
  const written = `${stem}.${extension}`;
  const image = sharp(written, { limitInputPixels: maxPixels + 10_000_000 });
  try {
    const { width = 0, height = 0 } = await image.metadata();
    if (width < 1 || height < 1) throw undrawn(page);
    if (format === 'webp') await image.webp({ quality }).toFile(path);
    else if (written !== path) await image.tiff({ compression: 'deflate' }).withMetadata({ density: dpi }).toFile(path);
  } catch (error) {
    throw undrawn(page, error);
  }
  if (written !== path) await rm(written);
}

/** Renders a page losslessly and applies the options of the image. */
async function drawFinished(
  pdf: SizedPdf,
  page: Page,
  { format, dpi, options }: ImageRequest,
  path: string,
  space: Workspace,
): Promise<void> {
  // Loaded only if needed: poppler writes most pages directly.
  const { enlargement, finishPicture } = await import('../../image/finish.ts');
  const size = page.size ?? { width: 0, height: 0 };
  const pixels = { width: (size.width * dpi) / 72, height: (size.height * dpi) / 72 };
  const larger = page.size ? enlargement(pixels, { format, options }) : 1;
  checkPixels({ ...page, size }, dpi * larger, 'Choose a smaller size.');
  await limitByPixels(pdf, page, dpi * larger, space);
  const stem = `${path}-drawn`;
  const transparent = options.background === undefined ? [] : ['-transp'];
  const resolution = ['-r', String(Math.round(dpi * larger * 1000) / 1000)];
  const args = ['-png', ...transparent, ...onlyPage(page.number), '-cropbox', ...resolution, '-singlefile'];
  await runTool('pdftocairo', [...args, pdf.path, stem], space);
  const source = `${stem}.png`;
  const { image_resize_percentage, ...others } = options;
  // The percentage was already applied in rendering.
  const left = larger > 1 || image_resize_percentage === undefined ? others : { ...others, image_resize_percentage };
  try {
    await finishPicture({ source, format, options: left, path });
  } catch (error) {
    throw undrawn(page, error);
  }
  await rm(source);
}

/** Returns the error for a page that the renderer produced no output for. A retry would not help. */
function undrawn({ number }: Page, cause?: unknown): EngineError {
  if (cause instanceof EngineError) return cause;
  const detail = cause instanceof Error ? cause.message : '';
  return new EngineError(`Page ${number} could not be rendered.`, { detail, cause });
}

/** Returns the number of pixels of a page at a resolution. */
export function pixelsOf({ width, height }: PageSize, dpi: number): number {
  return ((width * dpi) / 72) * ((height * dpi) / 72);
}

function checkPixels({ number, size }: Page, dpi: number, advice = 'Choose a lower image_dpi.'): void {
  if (!size || pixelsOf(size, dpi) <= maxPixels) return;
  throw new EngineError(
    `Page ${number}, of ${size.width} × ${size.height} points at ${Math.round(dpi)} dpi, has more than ${maxPixels / 1_000_000} million pixels. ${advice}`,
  );
}
