import type { HTTPResponse, Page } from 'puppeteer-core';
import type { AllowedHosts } from '../../../shared/net/addresses.ts';
import { EngineError } from '../runtime/engine.ts';
import { type MhtmlPart, mhtmlToHtml, parseMhtml } from './mhtml.ts';
import { keepState } from './page-scripts.ts';
import { visit } from './render.ts';
import type { LoadOptions } from './targets.ts';

export interface CaptureOptions {
  load?: LoadOptions;
  allow: AllowedHosts;
  signal: AbortSignal;
  timeoutMs?: number;
}

/** What Chromium's snapshot leaves out: fonts, and the images in SVG. */
const alsoKept = ['font', 'image'];
const maxBytes = 100 * 1024 ** 2;

/**
 * Loads a live page and returns it as one HTML file that looks the same without the network.
 *
 * It starts from Chromium's own snapshot (MHTML): that holds the DOM as the scripts left it, frames and shadow trees
 * included, and every image, style sheet and font as it was loaded, those of other sites too, which scripts in the page may
 * not read. The parts are then put in place as data URLs, since Chromium opens MHTML from disk alone. Scripts are
 * removed: run again over what they have built they would build it twice, and later conversions show the same state.
 */
export async function capturePage(url: string, options: CaptureOptions): Promise<string> {
  const loaded: Promise<MhtmlPart | undefined>[] = [];
  const prepare = (page: Page) => {
    page.on('response', (response) => {
      if (alsoKept.includes(response.request().resourceType())) loaded.push(partOf(response));
    });
  };
  return visit({ load: {}, ...options, source: { url }, prepare }, async (page) => {
    await page.evaluate(keepState);
    const session = await page.createCDPSession();
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
    // Chromium has already released it, or the request was aborted: the page is captured without it.
    return undefined;
  }
}
