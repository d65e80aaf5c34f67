import { join } from 'node:path';
import { type Programs, runTool } from '../../runtime/pdf-file.ts';
import type { Size } from '../marks/geometry.ts';
import type { PageContent } from './inspect.ts';

const usualDpi = 300;
/** Letters of fewer pixels are read worse, and more take longer without being read better. */
const [minDpi, maxDpi] = [170, 450];
/** A3 at 400 dpi. */
const maxPixels = 31_000_000;
const pointsPerInch = 72;
/** Poppler scales a picture that ends exactly at a pixel to one more. A little less keeps the pixels of scans as they are. */
const lessDpi = 0.002;
/** A picture without a resolution makes a page that is larger than any scanner. It is read as if it were A4. */
const [maxInches, usualInches] = [17.5, 11.7];

export interface Resolution {
  /** At which the page is rendered. */
  dpi: number;
  /** Of the text, for the program that recognises it. */
  textDpi: number;
}

/** Returns the resolution of the scan that fills a page, doubled or halved to a usual one, so that its pixels stay sharp. */
export function resolutionOf({ pictures }: PageContent, page: Size): Resolution {
  const squareInches = (page.width * page.height) / pointsPerInch ** 2;
  const scans = pictures.filter((picture) => picture.squareInches > squareInches / 4).map(({ dpi }) => dpi);
  const inches = Math.max(page.width, page.height) / pointsPerInch;
  const enlargement = inches > maxInches ? inches / usualInches : 1;
  const limit = Math.sqrt(maxPixels / squareInches);
  let dpi = scans.length > 0 ? Math.max(...scans) : usualDpi / enlargement;
  while (dpi * enlargement > maxDpi) dpi /= 2;
  while (dpi * enlargement < minDpi && dpi * 2 <= limit) dpi *= 2;
  dpi = Math.min(dpi, limit);
  return { dpi, textDpi: dpi * enlargement };
}

/** Renders a page as displayed, in grey or in colour, and returns the path of the picture. */
export async function renderPage(
  path: string,
  page: number,
  { dpi, grey }: { dpi: number; grey: boolean },
  space: Programs,
): Promise<string> {
  const name = join(space.folder, `page-${page}`);
  const range = ['-f', String(page), '-l', String(page), '-singlefile', '-cropbox'];
  const format = ['-tiff', '-tiffcompression', 'none', ...(grey ? ['-gray'] : [])];
  await runTool('pdftoppm', [...range, ...format, '-r', (dpi - lessDpi).toFixed(3), '-q', path, name], space);
  return `${name}.tif`;
}
