import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { delimiter, join } from 'node:path';
import { findProgram, isExecutable } from '../runtime/find-program.ts';
import { unpackBundle } from './bundle.ts';
import { findLayers, unpackChromium } from './layer.ts';

/** A browser, with its environment variables. */
export interface Chromium {
  path: string;
  env: Record<string, string>;
}

/**
 * Finds the Chromium to use: that of LATHE_CHROMIUM, of the function's layer, of the system, or of the package that the layer is
 * made of. The package is for Linux on x86_64 and gets no updates from the system, so it comes last.
 */
export async function findChromium(): Promise<Chromium> {
  const named = process.env.LATHE_CHROMIUM;
  if (named) {
    await access(named, constants.X_OK);
    return { path: named, env: {} };
  }
  const fits = arch() === 'x64' && platform() === 'linux';
  const layers = fits ? findLayers() : undefined;
  if (layers) {
    const { path, env } = withLibraries(await unpackChromium(layers), layers.libraries);
    return { path, env: { ...env, FONTCONFIG_FILE: layers.fonts } };
  }
  const found = await findInstalled();
  if (found !== undefined) return { path: found, env: {} };
  if (fits) {
    const folder = await unpackBundle('chromium', ['chromium.br', 'al2023.tar.br']);
    return withLibraries(join(folder, 'chromium'), join(folder, 'al2023', 'lib'));
  }
  throw new Error('No Chromium was found. Install it, or set LATHE_CHROMIUM to the path of the executable.');
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
