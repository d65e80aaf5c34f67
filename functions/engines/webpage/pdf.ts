import { writeFile } from 'node:fs/promises';
import { constants, inflateSync } from 'node:zlib';
import type { CDPSession } from 'puppeteer-core';
import { EngineError } from '../runtime/engine.ts';
import type { Place } from './browser.ts';
import { contentSize } from './metrics.ts';
import { type PageSize, type PdfTarget, sides } from './targets.ts';

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

const usualMargin = 10;
/** Chromium lays out a page that is too wide for wider paper, up to this factor, and shrinks it to the paper. */
const maxShrink = 1.5;
const minScale = 0.1;
/** Points per pixel at a scale of 1. */
const usualUnit = 0.75;

const cutOff =
  'The page is wider than the paper, so that its right side is cut off. Set shrink_to_fit, a larger page_size, or page_orientation to landscape.';

/** Prints a page to a PDF. Returns a warning if a part of the page does not fit on the paper. */
export async function writePdf(
  { page, session }: Place,
  target: PdfTarget,
  output: string,
): Promise<string | undefined> {
  const { followsPage, orientation, pageSize } = target;
  const [shorter, longer] = papers[pageSize ?? 'A4'];
  const [width, height] = orientation === 'landscape' ? [longer, shorter] : [shorter, longer];
  const usual = { top: usualMargin, right: usualMargin, bottom: usualMargin, left: usualMargin };
  const margins = { ...usual, ...target.margins };
  const printable = {
    width: (width - margins.left - margins.right) * pixelsPerMillimetre,
    height: (height - margins.top - margins.bottom) * pixelsPerMillimetre,
  };
  if (printable.width < 40 || printable.height < 40)
    throw new EngineError(
      `A margin of ${Math.max(...sides.map((side) => margins[side]))} mm leaves no room on the paper. Reduce margin or choose a larger page_size.`,
    );
  const isSizeGiven = !followsPage || pageSize !== undefined || orientation !== undefined;
  const rules = [
    ...(isSizeGiven ? [`size: ${width}mm ${height}mm !important`] : []),
    ...sides.flatMap((side) =>
      followsPage && target.margins?.[side] === undefined ? [] : [`margin-${side}: ${margins[side]}mm !important`],
    ),
  ];
  const scale = target.layoutWidth ? printable.width / target.layoutWidth : (target.scale ?? 1);
  let used = Math.min(2, Math.max(minScale, scale));
  await Promise.all([
    checkPages(session, printable.height / used),
    rules.length === 0 ? undefined : page.evaluate(pageRule(rules)),
  ]);
  const print = () =>
    page.pdf({
      // The library's millimetres are not exact.
      width: `${width / 25.4}in`,
      height: `${height / 25.4}in`,
      margin: Object.fromEntries(sides.map((side) => [side, `${margins[side] / 25.4}in`])),
      scale: used,
      printBackground: target.printBackground ?? true,
      preferCSSPageSize: true,
      tagged: target.isTagged ?? true,
      displayHeaderFooter: target.header !== undefined || target.footer !== undefined,
      headerTemplate: inMargin(target.header),
      footerTemplate: inMargin(target.footer),
      timeout: 0,
      // Fonts were awaited when the page was loaded.
      waitForFonts: false,
    });
  let pdf = await print();
  while (target.shrinkToFit && used > minScale && isCutOff(pdf, used)) {
    used = Math.max(minScale, used / maxShrink);
    pdf = await print();
  }
  checkPdf(pdf);
  await writeFile(output, pdf);
  return isCutOff(pdf, used) ? cutOff : undefined;
}

/** Wraps the HTML of a header or footer: by default, Chromium prints it in tiny letters at the edge of the paper. */
function inMargin(html = ''): string {
  return `<div style="box-sizing: border-box; width: 100%; padding: 0 ${usualMargin}mm; font: 9pt sans-serif">${html}</div>`;
}

/** Returns whether Chromium has shrunk a page to its limit, which means that the content is still too wide. */
function isCutOff(pdf: Uint8Array, scale: number): boolean {
  const unit = pageUnit(pdf);
  return unit !== undefined && unit <= (usualUnit * scale * 1.0005) / maxShrink;
}

/** Returns the points per pixel of the first page, from the two matrices at the start of each page. */
function pageUnit(pdf: Uint8Array): number | undefined {
  const bytes = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength);
  const [, content] =
    /\/Contents (\d+) 0 R/.exec(bytes.subarray(bytes.indexOf('/Type /Page\n')).toString('latin1', 0, 5000)) ?? [];
  const start = content === undefined ? -1 : bytes.indexOf(`\n${content} 0 obj\n`);
  const data = bytes.indexOf('stream\n', start) + 'stream\n'.length;
  if (start < 0) return undefined;
  const first = inflateSync(bytes.subarray(data, data + 4096), { finishFlush: constants.Z_SYNC_FLUSH }).toString(
    'latin1',
  );
  const [, paper, page] =
    /^([\d.]+) 0 0 -[\d.]+ [^\n]* cm\n(?:[^\n]*\n)*?([\d.]+) 0 0 \2 [^\n]* cm\n/.exec(first) ?? [];
  return paper === undefined ? undefined : Number(paper) * Number(page);
}

/**
 * Overrides the paper size, orientation and margins in the page's styles with the requested ones. Constructed style sheets come
 * last and are not subject to the page's content security policy.
 */
function pageRule(rules: string[]): string {
  const rule = `@page { ${rules.join('; ')} }`;
  return `(() => { const sheet = new CSSStyleSheet(); sheet.replaceSync(${JSON.stringify(rule)}); document.adoptedStyleSheets.push(sheet); })()`;
}

/** Throws if there are too many pages, estimated from the height on the screen: printing a million lines would time out. */
async function checkPages(session: CDPSession, heightOfPage: number): Promise<void> {
  const pages = Math.ceil((await contentSize(session)).height / heightOfPage);
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
