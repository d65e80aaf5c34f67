import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, type PDFPage } from '@cantoo/pdf-lib';
import { withExtension } from '../../../../shared/files/names.ts';
import { EngineError, type InputFile, type OutputFile, type Work } from '../../runtime/engine.ts';
import { pagesOf } from '../../runtime/pages.ts';
import { checkPdf, damagedPdf, openPdf, type Workspace } from '../../runtime/pdf-file.ts';

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Crops the pages of a PDF to a box, measured in points from the top left corner of the page as displayed. */
export async function crop({ options }: Work, input: InputFile, space: Workspace): Promise<OutputFile> {
  const pdf = await openPdf(input.path, options, space);
  const box: Box = {
    x: Number(options.x ?? 0),
    y: Number(options.y ?? 0),
    width: Number(options.width ?? Number.POSITIVE_INFINITY),
    height: Number(options.height ?? Number.POSITIVE_INFINITY),
  };
  if (['x', 'y', 'width', 'height'].every((name) => !options[name]))
    throw new EngineError('No crop box was given. Set width and height, or x and y.');
  const chosen = new Set(pagesOf(options.page_range, pdf.pages));
  const path = join(space.folder, 'cropped.pdf');
  await writeFile(path, await cropPages(pdf.path, box, chosen));
  space.progress(60);
  await checkPdf(path, space.folder, space, pdf.pages);
  return { path, name: withExtension(input.name, 'pdf'), format: 'pdf' };
}

async function cropPages(path: string, box: Box, chosen: Set<number>): Promise<Uint8Array> {
  try {
    const document = await PDFDocument.load(await readFile(path), { updateMetadata: false });
    for (const [index, page] of document.getPages().entries())
      if (chosen.has(index + 1)) cropPage(page, box, index + 1);
    return await document.save();
  } catch (error) {
    // The page tree is read after the file is loaded, and may be damaged.
    throw error instanceof EngineError ? error : damagedPdf(error);
  }
}

function cropPage(page: PDFPage, box: Box, number: number): void {
  const shown = page.getCropBox();
  const angle = ((page.getRotation().angle % 360) + 360) % 360;
  const turned = angle === 90 || angle === 270;
  const [width, height] = turned ? [shown.height, shown.width] : [shown.width, shown.height];
  const right = Math.min(box.x + box.width, width);
  const bottom = Math.min(box.y + box.height, height);
  if (box.x >= width || box.y >= height)
    throw new EngineError(`The box is outside page ${number}, which is ${round(width)} × ${round(height)} points.`);
  // From the page as displayed, y down, to the page as stored, y up and before its rotation.
  const { left, low, wide, high } = {
    0: { left: box.x, low: height - bottom, wide: right - box.x, high: bottom - box.y },
    90: { left: box.y, low: box.x, wide: bottom - box.y, high: right - box.x },
    180: { left: width - right, low: box.y, wide: right - box.x, high: bottom - box.y },
    270: { left: height - bottom, low: width - right, wide: bottom - box.y, high: right - box.x },
  }[angle] ?? { left: 0, low: 0, wide: 0, high: 0 };
  if (wide <= 0 || high <= 0)
    throw new EngineError(`Page ${number} is rotated by ${angle} degrees; only multiples of 90 can be cropped.`);
  const result: [number, number, number, number] = [shown.x + left, shown.y + low, wide, high];
  page.setMediaBox(...result);
  page.setCropBox(...result);
  page.setTrimBox(...result);
  page.setBleedBox(...result);
  page.setArtBox(...result);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
