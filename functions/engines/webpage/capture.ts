import type { HTTPResponse, Page } from 'puppeteer-core';
import { EngineError } from '../runtime/engine.ts';
import { type MhtmlPart, mhtmlToHtml, parseMhtml } from './mhtml.ts';
import { keepState } from './page-scripts.ts';
import { type Visit, visit } from './render.ts';

type CaptureOptions = Pick<Visit, 'allow' | 'signal'> & Partial<Pick<Visit, 'load'>>;

/** Resources that Chromium's snapshot omits: fonts, and images in SVG. */
const alsoKept = ['font', 'image'];
const maxBytes = 100 * 1024 ** 2;

/**
 * Loads a live page and returns it as one HTML file that looks the same offline.
 *
 * It starts from Chromium's own snapshot (MHTML), which contains the DOM after its scripts have run, with frames and shadow trees,
 * and all loaded images, style sheets and fonts, including those of other sites, which scripts cannot read. The parts become
 * data URLs, because Chromium opens MHTML only from disk. Scripts are removed: they would build their content a second time,
 * and later conversions have to show the same state.
 */
export async function capturePage(url: string, options: CaptureOptions): Promise<string> {
  const loaded: Promise<MhtmlPart | undefined>[] = [];
  const prepare = (page: Page) => {
    page.on('response', (response) => {
      if (alsoKept.includes(response.request().resourceType())) loaded.push(partOf(response));
    });
  };
  return visit({ load: {}, ...options, source: { url }, prepare }, async ({ page, session }) => {
    await page.evaluate(keepState);
    const { data } = await session.send('Page.captureSnapshot', { format: 'mhtml' });
    const more = (await Promise.all(loaded)).filter((part) => part !== undefined);
    const html = mhtmlToHtml(parseMhtml(data), more);
    if (Buffer.byteLength(html) > maxBytes)
      throw new EngineError(`The page and its resources are larger than ${maxBytes / 1024 ** 2} MB.`);
    return html;
  });
}

async function partOf(response: HTTPResponse): Promise<MhtmlPart | undefined> {
  if (!response.ok()) return undefined;
  try {
    const body = Buffer.from(await response.buffer());
    const contentType = response.headers()['content-type'] ?? 'application/octet-stream';
    return { contentType, location: response.url(), contentId: '', body };
  } catch {
    // Chromium has already released it, or the request was aborted. The page is captured without it.
    return undefined;
  }
}
