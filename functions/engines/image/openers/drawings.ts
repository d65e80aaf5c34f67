import { readFile } from 'node:fs/promises';
import sharp, { type SharpOptions } from 'sharp';
import { EngineError, type InputFile } from '../../runtime/engine.ts';
import { findProgram } from '../../runtime/find-program.ts';
import { tooManyPixels } from '../failures.ts';
import type { Reading } from '../formats.ts';
import { maxPixels, maxTotalPixels } from '../limits.ts';
import { pdfPages, renderPdfPage } from '../vector/pdf-pages.ts';
import { postScriptToPdf, svgToPdf } from '../vector/postscript.ts';
import { type Drawing, naturalDensity, prepareSvg } from '../vector/svg.ts';
import { checkFrames, checkSize, limits, type Opening, type Picture, pageOption, still } from './opened.ts';
import { openWithSharp } from './sharp.ts';

/** Opens an SVG, rendered at the requested size. */
export async function openSvg(input: InputFile, _read: Reading<'svg'>, opening: Opening): Promise<Picture> {
  const drawing = await prepareSvg(await readFile(input.path));
  const { width, height, percentage, dpi } = opening.wanted ?? {};
  const scale =
    width !== undefined || height !== undefined
      ? Math.max((width ?? 0) / drawing.width, (height ?? 0) / drawing.height)
      : percentage !== undefined
        ? percentage / 100
        : (dpi ?? 96) / 96;
  // Rendered at the requested size, so that enlarging never blurs; libvips supports 1 to 100,000.
  const density = Math.min(100_000, Math.max(1, naturalDensity * scale));
  if (drawing.width * drawing.height * scale ** 2 > maxPixels) throw tooManyPixels(input);
  if (drawing.hasEmoji && (await findProgram('rsvg-convert')) && (await findProgram('pdftocairo'))) {
    return openWithEmoji(input, drawing, (96 * density) / naturalDensity, opening);
  }
  const how: SharpOptions = { ...limits, density };
  const metadata = await sharp(drawing.bytes, how).metadata();
  checkSize(input, { width: metadata.width, height: metadata.height });
  return {
    ...still({ width: metadata.width, height: metadata.height, hasAlpha: true }),
    frame: () => sharp(drawing.bytes, how),
  };
}

/** Renders through a PDF, which keeps letters: librsvg draws letters as outlines, and outlines of emoji have no colours. */
async function openWithEmoji(input: InputFile, drawing: Drawing, dpi: number, opening: Opening): Promise<Picture> {
  const pdf = { ...input, path: await svgToPdf(drawing.bytes, input, opening) };
  const size = { width: (drawing.width * 72) / 96, height: (drawing.height * 72) / 96 };
  const png = await renderPdfPage(pdf, { number: 1, ...size }, { dpi, transparent: true }, opening);
  const picture = await openWithSharp(input, {}, { options: {} }, png);
  return { ...picture, density: undefined };
}

/** Opens PostScript and its relatives, rendered at the requested size. */
export async function openPostScript(
  input: InputFile,
  _read: Reading<'ghostscript'>,
  opening: Opening,
): Promise<Picture> {
  const pdf = { ...input, path: await postScriptToPdf(input, opening) };
  const pages = await pdfPages(pdf, opening);
  const chosen = pageOption(input, pages.length, opening.options);
  if (chosen === undefined) checkFrames(input, pages.length, 0, maxTotalPixels);
  const rendered = new Map<number, Picture>();
  for (const [index, page] of pages.entries()) {
    const number = index + 1;
    if (chosen !== undefined && number !== chosen) continue;
    const dpi = renderingDpi(page, opening.wanted);
    const transparent = input.format !== 'ps';
    const png = await renderPdfPage(pdf, { number, ...page }, { dpi, transparent }, opening);
    rendered.set(index, await openWithSharp(input, {}, { options: {} }, png));
  }
  const [first] = rendered.values();
  if (!first) throw new EngineError(`The file ${JSON.stringify(input.name)} has no pages.`);
  return {
    ...first,
    frames: pages.length,
    total: pages.length,
    hasPages: true,
    frame: (index) => (rendered.get(index) ?? first).frame(0),
  };
}

function renderingDpi(page: { width: number; height: number }, wanted: Opening['wanted'] = {}): number {
  const { width, height, percentage, dpi } = wanted;
  const scaled =
    width !== undefined || height !== undefined
      ? 72 * Math.max((width ?? 0) / page.width, (height ?? 0) / page.height)
      : (dpi ?? 150) * ((percentage ?? 100) / 100);
  return Math.min(2400, Math.max(1, Math.round(scaled * 1000) / 1000));
}
