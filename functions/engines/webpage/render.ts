import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type HTTPResponse, type Page, TimeoutError } from 'puppeteer-core';
import {
  AddressRefused,
  type AllowedHosts,
  checkUrl,
  HostNotFound,
  lookupPublic,
} from '../../../shared/net/addresses.ts';
import { EngineError } from '../runtime/engine.ts';
import { emulateMedia, emulateViewport, type Place, tiny, withPage } from './browser.ts';
import { missingFonts } from './missing-fonts.ts';
import { fontsLoaded, hideCookieBanners, inTurn, scrollThrough } from './page-scripts.ts';
import { writePdf } from './pdf.ts';
import type { PageProxy, ServedDocument } from './proxy.ts';
import { writeScreenshot } from './screenshot.ts';
import {
  type ImageTarget,
  type LoadOptions,
  type PdfTarget,
  usualViewport,
  viewportOf,
  type WaitUntil,
} from './targets.ts';

/** A live page, or a file that is loaded as if from a separate site. */
type PageSource = { url: string } | { htmlPath: string; contentType?: string };

export interface Visit {
  source: PageSource;
  load: LoadOptions;
  allow: AllowedHosts;
  /** Whether the page may load nothing at all. */
  isOffline?: boolean;
  signal: AbortSignal;
  timeoutMs?: number;
  /** Whether the page is drawn at full size, for a screenshot. */
  isDrawn?: boolean;
  /** Called with the page before it loads. */
  prepare?: (page: Page) => void;
}

interface RenderRequest extends Visit {
  target: ImageTarget | PdfTarget;
  /** Path of the output. */
  output: string;
  progress?: (percent: number) => void;
}

const loadMs = 30_000;
const wholeMs = 120_000;
/** A page that reloads more often than this will not stop. */
const maxNavigations = 10;
/** A reserved name (RFC 2606), so that it cannot be confused with anything on the web. */
const fileUrl = new URL('http://uploaded-file.invalid/');

/** Renders a page to an image or a PDF. Returns warnings about missing content. */
export async function renderPage(request: RenderRequest): Promise<string[]> {
  const { load, target, output } = request;
  const isDrawn = target.format !== 'pdf';
  return visit({ ...request, isDrawn }, async (place) => {
    request.progress?.(50);
    const warnings = await missingFonts(place);
    if (target.format === 'pdf') {
      const warning = await writePdf(place, target, output);
      return warning === undefined ? warnings : [...warnings, warning];
    }
    await writeScreenshot(place, target, load, output);
    return warnings;
  });
}

/** Loads a page through its own proxy, and runs work with it once it is ready. */
export async function visit<T>(request: Visit, work: (place: Place) => Promise<T>): Promise<T> {
  const { allow, isOffline = false, signal, source } = request;
  const url = 'url' in source ? await checkedPage(source.url, allow) : fileUrl;
  const document = 'url' in source ? undefined : await documentFrom(source);
  return withPage({ timeoutMs: request.timeoutMs ?? wholeMs, signal }, async (place) => {
    const { page, proxy } = place;
    proxy.open({ allow, isOffline, document });
    request.prepare?.(page);
    const done = load(place, url, request).then(() => work(place));
    // Fails with the page if it reloads.
    done.catch(() => {});
    try {
      return await Promise.race([done, endlessReload(page)]);
    } catch (error) {
      throw explain(error, proxy);
    }
  });
}

async function checkedPage(text: string, allow: AllowedHosts): Promise<URL> {
  if (!URL.canParse(text)) throw new EngineError(`Expected a URL such as https://example.com/ but received ${text}.`);
  const url = new URL(text);
  try {
    const { hostname, port } = checkUrl(url, allow);
    await lookupPublic(hostname, port, allow);
  } catch (error) {
    if (error instanceof AddressRefused || error instanceof HostNotFound)
      throw new EngineError(error.message, { cause: error });
    throw error;
  }
  return url;
}

async function documentFrom(source: { htmlPath: string; contentType?: string }): Promise<ServedDocument> {
  const body = await readFile(source.htmlPath);
  if (body.length === 0) throw new EngineError('The file is empty.');
  const type = source.contentType ?? 'text/html';
  // Over HTTP, Chromium assumes Windows-1252 without a declared encoding. Valid UTF-8 is hardly ever Windows-1252.
  return { url: fileUrl, body, contentType: isUtf8(body) ? `${type}; charset=utf-8` : type };
}

/** Rejects when a page has reloaded too often. */
function endlessReload(page: Page): Promise<never> {
  let count = 0;
  const endless = new Promise<never>((_resolve, reject) => {
    page.on('framenavigated', (frame) => {
      if (frame !== page.mainFrame()) return;
      count += 1;
      if (count >= maxNavigations) reject(new EngineError('The page keeps reloading, so it never finishes loading.'));
    });
  });
  endless.catch(() => {});
  return endless;
}

async function load(place: Place, url: URL, { load: options, isDrawn }: Visit): Promise<void> {
  const { page, proxy, session } = place;
  const viewport = viewportOf(options);
  const isPrepared = !isDrawn && isDeepStrictEqual(viewport, usualViewport);
  await Promise.all([
    isPrepared ? undefined : emulateViewport(session, viewport, isDrawn ? 1 : tiny),
    options.usePrintStylesheet ? undefined : emulateMedia(session, 'screen'),
  ]);
  const response = await navigate(page, url, options.waitUntil ?? 'load');
  checkAnswer(response, url, proxy);
  const last = options.hideCookie ? [hideCookieBanners, fontsLoaded] : [fontsLoaded];
  if (options.initialDelay) {
    await page.evaluate(scrollThrough);
    await wait(options.initialDelay * 1000);
    await page.evaluate(inTurn(last));
  } else await page.evaluate(inTurn([scrollThrough, ...last]));
}

async function navigate(page: Page, url: URL, waitUntil: WaitUntil): Promise<HTTPResponse | null> {
  const arrived = new Promise<HTTPResponse>((resolve) => {
    page.on('response', (response) => {
      if (response.request().isNavigationRequest() && response.frame() === page.mainFrame()) resolve(response);
    });
  });
  try {
    return await page.goto(url.href, { waitUntil, timeout: loadMs });
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
    // One slow image should not fail the whole page, so it is rendered as far as it has loaded.
    return Promise.race([arrived, wait(0, null)]);
  }
}

function checkAnswer(response: HTTPResponse | null, url: URL, proxy: PageProxy): void {
  if (!response)
    throw new EngineError(`${JSON.stringify(url.hostname)} did not respond within ${loadMs / 1000} seconds.`);
  const refused = proxy.refused.get(new URL(response.url()).host);
  if (refused !== undefined) throw new EngineError(new AddressRefused(refused).message);
  if (response.status() >= 400) throw new EngineError(`The server responded with status ${response.status()}.`);
}

/** Chromium's errors, with those if a page navigates, closes or crashes during a request last. The first match counts. */
const failures: [pattern: RegExp, message: string][] = [
  [/net::ERR_ABORTED/, 'The URL returns a download instead of a page.'],
  [/net::ERR_CERT/, 'The TLS certificate of the site is not valid, so the page was not loaded.'],
  [/net::ERR_/, 'The site could not be reached, or closed the connection.'],
  [
    /Target closed|Session closed|Page crashed|detached|Execution context|Cannot find context|Navigating frame|target navigated|Promise was collected|Not attached to an active page/i,
    'The page closed or navigated away while it was rendered.',
  ],
];

/** Translates failures that a page causes into errors for the user. */
function explain(error: unknown, proxy: PageProxy): unknown {
  if (error instanceof EngineError || !(error instanceof Error)) return error;
  const detail = error.message;
  const [refused] = proxy.refused.values();
  if (/ERR_TUNNEL_CONNECTION_FAILED/.test(detail) && refused !== undefined)
    return new EngineError(new AddressRefused(refused).message, { detail, cause: error });
  const message = failures.find(([pattern]) => pattern.test(detail))?.[1];
  return message === undefined ? error : new EngineError(message, { detail, cause: error });
}
