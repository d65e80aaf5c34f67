import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { finished } from 'node:stream';
import mime from 'mime';
import type { HttpApi } from '../api-gateway/http/http-api.ts';
import type { CacheBehavior, LocalBuild, LocalDistribution } from '../template/model.ts';
import { wildcard } from '../wildcard.ts';
import { createEdgeFunction, type EdgeResult } from './edge-function.ts';
import { forwardedTo } from './forward.ts';

/** CloudFront's limits for a URL, and for the request line and the headers. */
const urlLimitBytes = 8_192;
const requestLimitBytes = 20_480;

/** Maximum time for which the rest of a refused request is read. */
const lingerMs = 2_000;

/** The files that a distribution serves. */
export interface Build {
  folder: string;
  /** Paths of its files relative to the folder, as keys of a bucket. */
  files: ReadonlySet<string>;
}

interface DistributionOptions {
  /** Local root URL of page and API. */
  url: string;
  api: HttpApi;
  /** Finds the build of the page, once there is one. */
  build(): Promise<Build>;
  report(line: string): void;
}

interface Served {
  status: number;
  headers: Record<string, string>;
  body: Buffer | string;
}

/** Creates an HTTP request handler that responds as CloudFront does for a distribution. */
export function createDistribution(distribution: LocalDistribution, options: DistributionOptions) {
  const { url, api, build, report } = options;
  const { host } = new URL(url);
  const { domainName, behaviors } = distribution;
  const codes = new Set(behaviors.flatMap(({ code }) => code ?? []));
  const functions = new Map([...codes].map((code) => [code, createEdgeFunction(code, domainName)]));

  async function fromBuild(request: IncomingMessage, behavior: CacheBehavior, files: LocalBuild): Promise<Served> {
    const path = pathOf(request);
    if (isLoopback(request.headers.host, host)) return text(302, `See ${url}`, { location: new URL(path, url).href });
    // Another site may point its name at this machine; the page would then belong to that site's origin.
    if (request.headers.host !== host) return text(421, `This is not ${host}.`);
    let uri = path;
    const run = functions.get(behavior.code ?? '');
    if (run) {
      const result = runFunction(run, request);
      if (!('method' in result)) return responseOf(result);
      uri = result.uri;
    }
    const file = await fileOf(uri, files);
    return { ...file, headers: { ...file.headers, ...behavior.headers } };
  }

  function runFunction(run: ReturnType<typeof createEdgeFunction>, request: IncomingMessage): EdgeResult {
    try {
      return run(request, viewerOf(request));
    } catch (error) {
      report(`distribution: ${error instanceof Error ? error.message : String(error)}`);
      return { statusCode: 503, body: 'The CloudFront function failed. See the terminal of the service.' };
    }
  }

  async function fileOf(uri: string, { uploads, missingStatus }: LocalBuild): Promise<Served> {
    const built = await build().catch(() => undefined);
    if (!built) return text(500, 'The page could not be built. See the terminal of the service.');
    const key = uri.slice(1);
    const upload = uploads.findLast(({ exclude, include }) => isUploaded(key, exclude, include));
    if (!upload || !built.files.has(key)) {
      const code = missingStatus === 404 ? 'NoSuchKey' : 'AccessDenied';
      return {
        status: missingStatus,
        headers: { 'content-type': 'application/xml' },
        body: `<Error><Code>${code}</Code></Error>`,
      };
    }
    return {
      status: 200,
      headers: {
        'content-type': mime.getType(key) ?? 'binary/octet-stream',
        'cache-control': upload.cacheControl,
      },
      body: await readFile(join(built.folder, key)),
    };
  }

  return {
    async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const path = pathOf(request);
      const behavior = behaviors.find(({ pattern }) => wildcard(pattern).test(path));
      const refusal = refusalOf(request, behavior, host);
      if (!behavior || refusal) return send(request, response, refusal ?? page(403, 'No behavior matches.'));
      if (behavior.origin.kind === 'build')
        return send(request, response, await fromBuild(request, behavior, behavior.origin.build));
      const run = functions.get(behavior.code ?? '');
      const changed = run && runFunction(run, request);
      if (changed && !('method' in changed)) return send(request, response, responseOf(changed));
      const forwarded = forwardedTo(behavior.origin, request, viewerOf(request), changed);
      return await api.handle(request, response, forwarded);
    },
  };
}

/** Returns the response to a request that CloudFront forwards to no origin. */
function refusalOf(request: IncomingMessage, behavior: CacheBehavior | undefined, host: string): Served | undefined {
  const { method = '', url = '', headers, rawHeaders } = request;
  if (`https://${host}${url}`.length > urlLimitBytes) return page(413, 'The URL is too long.');
  const line = `${method} ${url} HTTP/1.1`.length;
  if (rawHeaders.reduce((sum, part) => sum + Buffer.byteLength(part, 'latin1') + 2, line) > requestLimitBytes)
    return page(413, 'The headers are too long.');
  if (behavior && !behavior.methods.includes(method))
    return page(403, `This distribution is not configured to allow the HTTP request method ${method}.`);
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  return method === 'GET' && hasBody ? page(403, 'A GET request must not have a body.') : undefined;
}

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Served): void {
  // Anything the client still sends would be read as its next request. After a 413 CloudFront closes the connection
  // anyway.
  const closes = !request.complete || status === 413;
  response.writeHead(status, {
    ...headers,
    ...(closes ? { connection: 'close' } : {}),
    'content-length': Buffer.byteLength(body),
  });
  if (request.method !== 'HEAD') response.write(body);
  if (!closes) {
    response.end();
    return;
  }
  // A client that is still sending would lose the response if the connection was closed at once.
  const timer = setTimeout(() => response.end(), lingerMs);
  finished(request.resume(), () => {
    clearTimeout(timer);
    response.end();
  });
}

function text(status: number, body: string, more: Record<string, string> = {}): Served {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...more },
    body,
  };
}

/** Returns an error page in the format of CloudFront. */
function page(status: number, reason: string): Served {
  return text(status, `<h1>${status} ERROR</h1><p>${reason}</p>\n`, { 'content-type': 'text/html' });
}

function responseOf({ statusCode, headers = {}, body = '' }: Exclude<EdgeResult, { method: string }>): Served {
  const plain = Object.entries(headers).map(([name, { value }]) => [name, value] as const);
  return { status: statusCode, headers: Object.fromEntries(plain), body };
}

/** Returns whether `aws s3 sync` uploads a file: excluded files are not, unless they are included again. */
function isUploaded(key: string, exclude: string[], include: string[]): boolean {
  const matches = (pattern: string) => wildcard(pattern).test(key);
  return include.some(matches) || !exclude.some(matches);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?')[0] ?? '';
}

function viewerOf({ socket }: IncomingMessage): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}

/** Sessions belong to localhost, so clients that use the IP address are redirected. */
function isLoopback(given: string | undefined, host: string): boolean {
  const port = host.slice(host.indexOf(':'));
  return given === `127.0.0.1${port}` || given === `[::1]${port}`;
}
