import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import puppeteer, { type Browser, type BrowserContext, type CDPSession, type Page } from 'puppeteer-core';
import { withDeadline } from '../../../shared/concurrency.ts';
import { EngineError } from '../runtime/engine.ts';
import { isAlive } from '../runtime/is-alive.ts';
import { activeFonts } from '../runtime/job-fonts.ts';
import { runProgram } from '../runtime/program.ts';
import { warmFolder } from '../runtime/warm-folder.ts';
import { chromiumArguments, findChromium } from './chromium.ts';
import { withoutPeers } from './page-scripts.ts';
import { PipeTransport } from './pipe-transport.ts';
import { type PageProxy, startProxy } from './proxy.ts';
import { usualViewport, type Viewport } from './targets.ts';

/** The browser is replaced regularly to bound its leaks. */
const maxTasks = 100;
const startMs = 60_000;
const closeMs = 3000;
const profilePrefix = 'lathe-chromium-';
const limits = { requests: 2000, bytes: 200 * 1024 ** 2 };
/** The scale of a page that is not drawn for a screenshot. */
export const tiny = 0.05;

interface Running {
  browser: Browser;
  tasks: number;
  /** Configuration of the fonts that its task brought. */
  fonts: string | undefined;
  stop(): Promise<void>;
}

/**
 * A page for one task, in a context and behind a proxy of its own. It is prepared for printing: with the styles for print,
 * and laid out for the usual viewport but drawn tiny, because Chromium would take as long to draw it as to lay it out.
 */
export interface Place {
  page: Page;
  /** The only session that emulates anything: after a navigation, each resets what others have set. */
  session: CDPSession;
  proxy: PageProxy;
}

interface PreparedPlace extends Place {
  running: Running;
  context: BrowserContext;
}

// Only the browser is kept between tasks. Cookies, caches and pages belong to the context, and each task has its own.
let running: Promise<Running> | undefined;

// Creating a page takes as long as loading a short one, so the next page is created while the last output is stored.
let ahead: Promise<PreparedPlace> | undefined;

/** Resolves when the last task's page is closed. */
let closing: Promise<void> | undefined;

export interface PageSetting {
  /** Timeout after which the page is aborted, and the browser with it. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Runs work with a page that no other task has used, and kills the browser if the work times out. */
export async function withPage<T>(setting: PageSetting, work: (place: Place) => Promise<T>): Promise<T> {
  setting.signal.throwIfAborted();
  let place: PreparedPlace | undefined;
  let isHealthy = false;
  const run = async () => {
    place = await takePlace();
    return work(place);
  };
  try {
    const result = await withinTime(setting, run());
    isHealthy = true;
    return result;
  } catch (error) {
    isHealthy = error instanceof EngineError && !(error instanceof PageTimeout);
    throw error;
  } finally {
    place?.proxy.close();
    if (place && isHealthy) closing = replacePlace(place);
    else await closeBrowser();
  }
}

/** Waits until the last page is closed and the next one is prepared: an engine frozen before that would not benefit. */
export async function settlePages(): Promise<void> {
  await closing;
  await ahead?.catch(() => {});
}

/** Starts the browser ahead of the first page. */
export function warmBrowser(): void {
  ahead ??= start().then(preparePlace);
  // The first task tries again and reports a failure.
  ahead.catch(() => {});
}

/** Closes the browser; the next task starts another. */
export async function closeBrowser(): Promise<void> {
  const unused = ahead;
  ahead = undefined;
  await stopBrowser();
  await unused?.then(({ proxy }) => proxy.close()).catch(() => {});
}

async function stopBrowser(): Promise<void> {
  const ending = running;
  running = undefined;
  await ending?.then(({ stop }) => stop()).catch(() => {});
}

/** Thrown for a page that did not finish. Its renderer may still be busy, so the browser is not used again. */
class PageTimeout extends EngineError {
  override name = 'PageTimeout';
}

async function takePlace(): Promise<PreparedPlace> {
  // Nothing of a task may continue during the next one.
  await closing;
  const prepared = ahead;
  ahead = undefined;
  let place = await prepared?.catch(() => undefined);
  if (place && place.running.fonts !== activeFonts()) {
    place.proxy.close();
    await stopBrowser();
    place = undefined;
  }
  if (!place?.running.browser.connected || place.page.isClosed()) {
    place?.proxy.close();
    place = await preparePlace(await start());
  }
  place.running.tasks += 1;
  return place;
}

/** Closes a task's context, and starts to prepare the next task's page. */
async function replacePlace({ running: current, context }: PreparedPlace): Promise<void> {
  await closeContext(context);
  if (current.tasks >= maxTasks || !current.browser.connected) return closeBrowser();
  ahead ??= preparePlace(current);
  // The next task prepares another.
  ahead.catch(() => {});
}

async function preparePlace(current: Running): Promise<PreparedPlace> {
  const proxy = await startProxy(limits);
  try {
    const context = await current.browser.createBrowserContext({
      proxyServer: proxy.url,
      proxyBypassList: ['<-loopback>'],
      downloadBehavior: { policy: 'deny' },
    });
    const page = await context.newPage();
    closePopups(context, page);
    page.on('dialog', (dialog) => void dialog.dismiss().catch(() => {}));
    const [session] = await Promise.all([page.createCDPSession(), page.evaluateOnNewDocument(withoutPeers)]);
    await Promise.all([emulateMedia(session, 'print'), emulateViewport(session, usualViewport, tiny)]);
    return { running: current, context, page, session, proxy };
  } catch (error) {
    proxy.close();
    throw error;
  }
}

/** Lays a page out for a viewport, and draws it at a fraction of its size, which scripts and styles do not notice. */
export async function emulateViewport(session: CDPSession, viewport: Viewport, scale: number): Promise<void> {
  await session.send('Emulation.setDeviceMetricsOverride', { ...viewport, mobile: false, scale });
}

export async function emulateMedia(session: CDPSession, media: 'print' | 'screen'): Promise<void> {
  await session.send('Emulation.setEmulatedMedia', { media });
}

/** Closes the task's context; if a hanging page does not close, the browser is killed instead. */
async function closeContext(context: BrowserContext): Promise<void> {
  const closed = await withDeadline(Promise.allSettled([context.close()]), closeMs);
  if (!closed) await stopBrowser();
}

function closePopups(context: BrowserContext, page: Page): void {
  context.on('targetcreated', (target) => {
    if (target.type() !== 'page' || target === page.target()) return;
    void target
      .page()
      .then((popup) => popup?.close())
      .catch(() => {});
  });
}

async function withinTime<T>({ timeoutMs, signal }: PageSetting, work: Promise<T>): Promise<T> {
  // Killing the browser makes the work fail later, when nothing awaits it any more.
  work.catch(() => {});
  const { promise: late, reject } = Promise.withResolvers<never>();
  const message = `The page did not finish within ${Math.round(timeoutMs / 1000)} seconds. A script may run endlessly, or the page may reload forever.`;
  const timer = setTimeout(() => reject(new PageTimeout(message)), timeoutMs);
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

async function start(): Promise<Running> {
  const current = await running?.catch(() => undefined);
  if (current?.browser.connected && current.fonts === activeFonts()) return current;
  await stopBrowser();
  running = launch();
  return running;
}

async function launch(): Promise<Running> {
  await removeOldProfiles();
  const { path: program, env } = await findChromium();
  const fonts = activeFonts();
  const profile = await mkdtemp(join(warmFolder(), `${profilePrefix}${process.pid}-`));
  const ending = new AbortController();
  const transport = Promise.withResolvers<PipeTransport>();
  const ended = runProgram(program, chromiumArguments(profile), {
    cwd: profile,
    warm: true,
    network: true,
    env: {
      ...env,
      HOME: profile,
      XDG_CONFIG_HOME: profile,
      XDG_CACHE_HOME: profile,
      DBUS_SESSION_BUS_ADDRESS: 'disabled:',
      ...(fonts === undefined ? {} : { FONTCONFIG_FILE: fonts }),
    },
    signal: ending.signal,
    onPipes: (to, from) => transport.resolve(new PipeTransport(to, from)),
  });
  ended.catch(() => {});
  const stop = async () => {
    ending.abort();
    await ended.catch(() => {});
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const gone = ended.then(
      () => Promise.reject(new Error('Chromium ended as soon as it was started.')),
      // Not a ProgramError, which would blame the page.
      (error: unknown) => Promise.reject(new Error(`Chromium did not start: ${error}`, { cause: error })),
    );
    const connected = transport.promise.then((pipes) =>
      puppeteer.connect({ transport: pipes, defaultViewport: null, issuesEnabled: false, protocolTimeout: 300_000 }),
    );
    const browser = await withDeadline(Promise.race([connected, gone]), startMs);
    if (!browser) throw new Error(`Chromium did not start within ${startMs / 1000} seconds.`);
    return { browser, tasks: 0, fonts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Removes the profiles of processes that were killed before they could do so. */
async function removeOldProfiles(): Promise<void> {
  for (const name of await readdir(warmFolder())) {
    const [, owner] = new RegExp(`^${profilePrefix}(\\d+)-`).exec(name) ?? [];
    if (owner === undefined || Number(owner) === process.pid || isAlive(Number(owner))) continue;
    await rm(join(warmFolder(), name), { recursive: true, force: true });
  }
}
