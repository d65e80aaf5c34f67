import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { arch } from 'node:os';
import { delimiter, join } from 'node:path';

/** Where Lambda keeps its runtime in functions that are no container images: the machines the bundled Chromium is built for. */
const lambdaRuntime = '/var/runtime';

/**
 * Finds the Chromium to use: the one that LATHE_CHROMIUM names, the bundled one where it fits, or the system's. The bundled
 * one is for x86_64, and outside of Lambda it often lacks libraries, so there it comes last.
 */
export async function findChromium(): Promise<string> {
  const named = process.env.LATHE_CHROMIUM;
  if (named) {
    await access(named, constants.X_OK);
    return named;
  }
  const fits = arch() === 'x64';
  if (fits && existsSync(lambdaRuntime)) return bundledChromium();
  const found = await findProgram();
  if (found !== undefined) return found;
  if (fits) return bundledChromium();
  throw new Error('No Chromium was found. Install the package chromium, or set LATHE_CHROMIUM to the path of one.');
}

async function bundledChromium(): Promise<string> {
  const { default: bundled } = await import('@sparticuz/chromium');
  return bundled.executablePath();
}

async function findProgram(): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  // Debian's `chromium` is a script that adds switches of its own; the program is beside its files.
  const candidates = [
    '/usr/lib/chromium/chromium',
    ...['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => folders.map((folder) => join(folder, name))),
  ];
  for (const path of candidates) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

/**
 * Lists the switches Chromium is started with. Those that the bundled package proposes are not among them: they turn off
 * web security and site isolation.
 */
export function chromiumArguments(profile: string): string[] {
  return [
    '--headless=new',
    // Functions run without the rights that its own sandbox needs; the process as a whole is the sandbox here.
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
    // Each task's pages have a proxy of their own; what is not a task's has no way out at all.
    '--proxy-server=http://127.0.0.1:9',
    // Loopback is otherwise reached past the proxy.
    '--proxy-bypass-list=<-loopback>',
    // Names are the proxy's to resolve, and nobody else's.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    // Peers are otherwise asked for by UDP, which no proxy sees.
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    `--user-data-dir=${profile}`,
    '--remote-debugging-port=0',
    'about:blank',
  ];
}
