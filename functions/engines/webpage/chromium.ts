import { constants, createReadStream, createWriteStream, existsSync } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { findProgram, isExecutable } from '../runtime/find-program.ts';
import { warmFolder } from '../runtime/warm-folder.ts';
import { unpackBundle } from './bundle.ts';

/** A browser, with its environment variables. */
interface Chromium {
  path: string;
  env: Record<string, string>;
}

/**
 * Finds the Chromium to use: that of LATHE_CHROMIUM, of the function's layers (or the folder that LATHE_LAYERS names), of the
 * system, or of the package that the layer is made of. The package is for Linux on x86_64 and gets no updates from the system, so it comes last.
 */
export async function findChromium(): Promise<Chromium> {
  const named = process.env.LATHE_CHROMIUM;
  if (named) {
    await access(named, constants.X_OK);
    return { path: named, env: {} };
  }
  const fits = arch() === 'x64' && platform() === 'linux';
  const layers = process.env.LATHE_LAYERS ?? '/opt';
  const archive = join(layers, 'chromium', 'chromium.br');
  if (fits && existsSync(archive)) {
    const { path, env } = withLibraries(await unpackLayer(archive), join(layers, 'chromium', 'lib'));
    return { path, env: { ...env, FONTCONFIG_FILE: join(layers, 'fonts', 'fonts.conf') } };
  }
  const found = await findInstalled();
  if (found !== undefined) return { path: found, env: {} };
  if (fits) {
    const folder = await unpackBundle('chromium', ['chromium.br', 'al2023.tar.br']);
    return withLibraries(join(folder, 'chromium'), join(folder, 'al2023', 'lib'));
  }
  throw new Error('No Chromium was found. Install it, or set LATHE_CHROMIUM to the path of the executable.');
}

/** Unpacks the browser of a layer once per environment and returns its path. */
async function unpackLayer(archive: string): Promise<string> {
  const path = join(warmFolder(), 'chromium');
  if (existsSync(path)) return path;
  const draft = `${path}.${process.pid}`;
  try {
    await pipeline(
      createReadStream(archive, { highWaterMark: 2 ** 20 }),
      createBrotliDecompress({ chunkSize: 2 ** 21 }),
      createWriteStream(draft, { mode: 0o700 }),
    );
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return path;
}

/** Adds the libraries that a bare system lacks. */
function withLibraries(path: string, libraries: string): Chromium {
  const others = process.env.LD_LIBRARY_PATH;
  return { path, env: { LD_LIBRARY_PATH: others ? `${libraries}${delimiter}${others}` : libraries } };
}

async function findInstalled(): Promise<string | undefined> {
  // Without the parts of a desktop browser, pages take a fifth of the processor time.
  // Debian's `chromium` is a script that adds switches; the program is next to its files. On macOS it is in a folder.
  for (const path of [
    '/usr/lib/chromium/chromium-headless-shell',
    '/usr/lib/chromium/chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ]) {
    if (await isExecutable(path)) return path;
  }
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const path = await findProgram(name);
    if (path !== undefined) return path;
  }
  return undefined;
}

/**
 * Lists the switches of Chromium. Excludes those that the bundled package proposes, which turn off web security and site
 * isolation.
 */
export function chromiumArguments(profile: string): string[] {
  return [
    '--headless=new',
    // Functions lack the permissions for Chromium's own sandbox. The engine's sandbox confines the whole process.
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-quic',
    '--no-first-run',
    '--no-default-browser-check',
    '--no-pings',
    '--disable-background-networking',
    '--disable-breakpad',
    '--disable-client-side-phishing-detection',
    '--disable-component-extensions-with-background-pages',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-domain-reliability',
    '--disable-extensions',
    '--disable-sync',
    '--metrics-recording-only',
    '--mute-audio',
    '--password-store=basic',
    '--use-mock-keychain',
    '--hide-scrollbars',
    '--font-render-hinting=none',
    '--disable-features=Translate,MediaRouter,OptimizationHints,InterestFeedContentSuggestions,AutofillServerCommunication,DialMediaRouteProvider,WebTransport',
    '--disable-blink-features=WebTransport',
    // Each task's pages have their own proxy; anything else has no network access.
    '--proxy-server=http://127.0.0.1:9',
    // By default, loopback bypasses the proxy.
    '--proxy-bypass-list=<-loopback>',
    // Only the proxy resolves names.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    // Otherwise peers are contacted over UDP, which bypasses the proxy.
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    `--user-data-dir=${profile}`,
    '--remote-debugging-pipe',
    'about:blank',
  ];
}
