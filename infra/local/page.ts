import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import type { OtherOrigins } from '../../web/headers.ts';
import { htmlFiles } from '../../web/html-files.ts';
import { isOneOf } from '../../web/pages.ts';
import { projectRoot } from '../bundling.ts';
import { cacheFolder } from './bundles.ts';
import { fingerprint, markAsUsed, publish, removeOld } from './fingerprint.ts';

const mediaTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface LocalPage {
  /** Tells whether a request is for the page or a file of it. */
  serves(request: IncomingMessage): boolean;
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Has the page built, if it is not, before anybody asks for it. */
  prepare(): void;
}

/** Creates what serves the page as the distribution does in AWS. It is built with the first request after a change of its sources. */
export function createLocalPage(
  { url, files, sockets }: OtherOrigins & { url: string },
  report: (line: string) => void,
): LocalPage {
  const { host } = new URL(url);
  let built: Promise<string> | undefined;
  const build = (): Promise<string> => {
    built ??= currentPage();
    // What could not be built may be repaired before the next request.
    built.catch((error) => {
      built = undefined;
      report(`page: ${error instanceof Error ? error.message : String(error)}`);
    });
    return built;
  };
  return {
    serves: ({ method, url: target = '' }) =>
      (method === 'GET' || method === 'HEAD') && fileOf(pathOf(target)) !== undefined,
    prepare: () => void build().catch(() => undefined),
    async handle(request, response) {
      const path = pathOf(request.url ?? '/');
      const file = fileOf(path) ?? 'index.html';
      const headers = (documentAt(path) ?? htmlFiles[0])?.headers({ files, sockets });
      const respond = (status: number, more: Record<string, string>, body: Buffer | string) => {
        response.writeHead(status, { ...headers, ...more, 'content-length': Buffer.byteLength(body) });
        response.end(request.method === 'HEAD' ? undefined : body);
      };
      const text = (status: number, body: string, more: Record<string, string> = {}) =>
        respond(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...more }, body);
      if (isLoopback(request.headers.host, host)) return text(302, `See ${url}`, { location: new URL(path, url).href });
      // Another site may give its name the address of this machine; the page would then be one of that site.
      if (request.headers.host !== host) return text(421, `This is not ${host}.`);
      try {
        const content = await readFile(join(await build(), file));
        const isHashed = file.startsWith('assets/');
        respond(
          200,
          {
            'content-type': mediaTypes[extname(file)] ?? 'application/octet-stream',
            'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
          },
          content,
        );
      } catch (error) {
        const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
        if (isMissing) text(404, `There is no ${path}.`);
        else text(500, 'The page could not be built. The terminal of the service says why.');
      }
    },
  };
}

/** Returns the file of the build that a path names, if it names one. */
function fileOf(path: string): string | undefined {
  const document = documentAt(path);
  if (document) return document.name;
  return path === '/favicon.svg' || /^\/assets\/[\w-]+\.[a-z]+$/.test(path) ? path.slice(1) : undefined;
}

function documentAt(path: string) {
  return htmlFiles.find(({ paths }) => isOneOf(paths, path));
}

function pathOf(target: string): string {
  return target.split('?')[0] ?? '';
}

/** The session is one of localhost, so who comes by the address is sent there. */
function isLoopback(given: string | undefined, host: string): boolean {
  const port = host.slice(host.indexOf(':'));
  return given === `127.0.0.1${port}` || given === `[::1]${port}`;
}

/** Returns the folder of the page as its sources are now, built if it is not there. */
async function currentPage(): Promise<string> {
  const cache = cacheFolder();
  const state = fingerprint(['package-lock.json', 'web'], new Set(['web/dist']));
  const folder = join(cache, `web-${state.slice(0, 32)}`);
  if (!existsSync(folder)) {
    removeOld(cache);
    const draft = mkdtempSync(join(cache, 'draft-'));
    try {
      await runVite(draft);
      publish(draft, folder);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
  markAsUsed(folder);
  return folder;
}

/** Builds in a process of its own: the build takes more memory than the service keeps. */
async function runVite(outDir: string): Promise<void> {
  const vite = join(projectRoot, 'node_modules/vite/bin/vite.js');
  const child = spawn(process.execPath, [vite, 'build', 'web', '--outDir', outDir, '--logLevel', 'warn'], {
    cwd: projectRoot,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killWithParent = () => child.kill('SIGKILL');
  process.once('exit', killWithParent);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000);
    });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject).once('close', resolve);
  const code = await promise;
  process.off('exit', killWithParent);
  if (code !== 0) throw new Error(`Vite ended with ${code}: ${said}`);
}
