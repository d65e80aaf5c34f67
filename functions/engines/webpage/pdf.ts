import { writeFile } from 'node:fs/promises';
import type { Page } from 'puppeteer-core';
import { EngineError } from '../runtime/engine.ts';
import { contentSize } from './metrics.ts';
import type { PageSize, PdfTarget } from './targets.ts';

const maxPages = 2000;
const pixelsPerMillimetre = 96 / 25.4;

/** Paper in millimetres, in portrait except for Ledger. */
const papers = {
  A0: [841, 1189],
  A1: [594, 841],
  A2: [420, 594],
  A3: [297, 420],
  A4: [210, 297],
  A5: [148, 210],
  A6: [105, 148],
  Ledger: [431.8, 279.4],
  Legal: [215.9, 355.6],
  Letter: [215.9, 279.4],
  Tabloid: [279.4, 431.8],
} satisfies Record<PageSize, [width: number, height: number]>;

/** Prints a page to a PDF. */
export async function writePdf(page: Page, target: PdfTarget, output: string): Promise<void> {
  const [shorter, longer] = papers[target.pageSize ?? 'A4'];
  const [width, height] = target.landscape ? [longer, shorter] : [shorter, longer];
  const margin = target.margin ?? 10;
  const printable = {
    width: (width - 2 * margin) * pixelsPerMillimetre,
    height: (height - 2 * margin) * pixelsPerMillimetre,
  };
  if (printable.width < 40 || printable.height < 40)
    throw new EngineError(
      `A margin of ${margin} mm leaves no room on the paper. Reduce margin or choose a larger page_size.`,
    );
  const scale = target.layoutWidth ? printable.width / target.layoutWidth : (target.scale ?? 1);
  const used = Math.min(2, Math.max(0.1, scale));
  await Promise.all([
    checkPages(page, printable.height / used),
    target.pageSize === undefined ? undefined : page.evaluate(paperRule(width, height, margin)),
  ]);
  const side = `${margin}mm`;
  const pdf = await page.pdf({
    width: `${width}mm`,
    height: `${height}mm`,
    margin: { top: side, right: side, bottom: side, left: side },
    scale: used,
    printBackground: target.printBackground ?? true,
    preferCSSPageSize: true,
    timeout: 0,
    // Awaited when the page was loaded.
    waitForFonts: false,
  });
  checkPdf(pdf);
  await writeFile(output, pdf);
}

/**
 * Makes the requested paper override the page's style, which Chromium otherwise follows in its
 * orientation and margins. Constructed sheets come last and are not subject to the page's content policy.
 */
function paperRule(width: number, height: number, margin: number): string {
  const rule = `@page { size: ${width}mm ${height}mm !important; margin: ${margin}mm !important }`;
  return `(() => { const sheet = new CSSStyleSheet(); sheet.replaceSync(${JSON.stringify(rule)}); document.adoptedStyleSheets.push(sheet); })()`;
}

/** Estimates the pages from the height on the screen: printing a page of a million lines would time out. */
async function checkPages(page: Page, heightOfPage: number): Promise<void> {
  const pages = Math.ceil((await contentSize(page)).height / heightOfPage);
  if (pages > maxPages)
    throw new EngineError(
      `The PDF would have about ${pages.toLocaleString('en')} pages; the maximum is ${maxPages.toLocaleString('en')}. Shorten the web page.`,
    );
}

function checkPdf(pdf: Uint8Array): void {
  const text = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength).toString('latin1');
  const isWhole = text.startsWith('%PDF-') && text.trimEnd().endsWith('%%EOF');
  if (!isWhole || !/\/Type \/Page\b/.test(text)) throw new Error('Chromium wrote a PDF without pages.');
}
