import { STATUS_CODES } from 'node:http';
import { Client } from 'undici';
import { checkUrl, connectOptions } from '../../shared/net/addresses.ts';
import type { JsonObject, JsonValue } from '../../shared/tasks/task.ts';
import type { RunResult } from '../worker/worker.ts';
import { fileNameOf, nameInPath } from './content-disposition.ts';
import type { Announced } from './decode.ts';
import {
  CannotResume,
  explainConnection,
  explainOverload,
  failed,
  insufficientPermission,
  invalidCredentials,
} from './failures.ts';
import {
  deploymentSettings,
  type Incoming,
  type Receiving,
  receive,
  receiveBytes,
  type TransferSettings,
} from './receive.ts';
import { readLocation, readTarget, type Target } from './request-target.ts';
import { type RetryPolicy, withResponseTimeout } from './retry-policy.ts';

const maxRedirects = 10;

/** Fetches the file of a URL. */
export async function importUrl(run: Receiving, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const file = await receive(run, 0, remoteFile(run.parameters, settings), settings);
  return { files: [file] };
}

/** The client waits meanwhile, and can repeat its request. */
const downloadPolicy: RetryPolicy = { maxAttempts: 2, backoffMs: 100, idleTimeoutMs: 10_000 };

/** Fetches the file of a URL into memory, up to a size. */
export function downloadUrl(
  url: string,
  maxBytes: number,
  signal: AbortSignal,
  settings: TransferSettings = { ...deploymentSettings(), retryPolicy: downloadPolicy },
): Promise<Buffer> {
  return receiveBytes(remoteFile({ url }, settings), settings, maxBytes, signal);
}

type HttpResponse = Awaited<ReturnType<Client['request']>> & { client: Client; target: Target };

/** Returns the file behind a URL; a transfer is resumed if the server can confirm that the file is unchanged. */
function remoteFile(parameters: JsonObject, { outbound, retryPolicy }: TransferSettings): Incoming {
  const start = readTarget(String(parameters.url));
  const ownHeaders = headersOf(parameters.headers);
  let { host } = start.url;
  let validator: string | undefined;

  function begin(response: HttpResponse): Announced {
    const { headers, statusCode, target } = response;
    if (statusCode !== 200 && statusCode !== 203) throw refusal(response, host);
    validator = validatorOf(headers);
    return {
      name: fileNameOf(textOf(headers['content-disposition'])) ?? nameInPath(target.path),
      mediaType: textOf(headers['content-type']),
      encoding: textOf(headers['content-encoding']),
      size: lengthOf(headers),
    };
  }

  /** Checks that a response continues the file at an offset, and returns the size of the whole file if known. */
  function goOn({ headers, statusCode }: HttpResponse, offset: number, size: number | undefined): number | undefined {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(textOf(headers['content-range']) ?? '');
    const overload = explainOverload(statusCode, host, retryAfter(headers));
    if (overload) throw overload;
    const whole = range?.[2] === undefined || range[2] === '*' ? undefined : Number(range[2]);
    const same = size === undefined || whole === undefined || whole === size;
    if (statusCode !== 206 || Number(range?.[1]) !== offset || !same || isAnother(headers, validator))
      throw new CannotResume(`The transfer from ${host} was interrupted and could not be resumed.`);
    return size ?? whole;
  }

  /** Requests the file and follows redirects, each of them checked like the first address. */
  async function follow(signal: AbortSignal, extra: Record<string, string>): Promise<HttpResponse> {
    let target = start;
    for (let hop = 0; hop <= maxRedirects; hop++) {
      host = target.url.host;
      // Headers for one origin are not sent to another: any of them may hold a credential.
      const own = target.url.origin === start.url.origin ? ownHeaders : {};
      const response = await ask(target, { ...own, ...extra }, signal);
      const location = textOf(response.headers.location);
      if (![301, 302, 303, 307, 308].includes(response.statusCode) || location === undefined) return response;
      discard(response);
      try {
        target = readLocation(location, target.url);
      } catch (error) {
        throw failed(`${host} redirects to an invalid URL.`, error);
      }
    }
    throw failed(`${start.url.host} redirects more than ${maxRedirects} times.`);
  }

  async function ask(target: Target, headers: Record<string, string>, signal: AbortSignal): Promise<HttpResponse> {
    const { hostname, port } = checkUrl(target.url, outbound.allow);
    const { lookup, autoSelectFamily } = await connectOptions(hostname, port, outbound.allow, outbound.resolve);
    const client = new Client(target.url.origin, {
      allowH2: false,
      pipelining: 1,
      connect: { lookup, autoSelectFamily, timeout: retryPolicy.idleTimeoutMs },
      headersTimeout: retryPolicy.idleTimeoutMs,
      // The reader times out the body; here the timer would run on while the other end of the pipe is slow.
      bodyTimeout: 0,
    });
    try {
      // A server that sends its headers byte by byte keeps resetting the client's own timer.
      const response = await withResponseTimeout(retryPolicy, signal, (requestSignal) =>
        client.request({
          method: 'GET',
          path: target.path,
          headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Lathe', ...headers },
          signal: requestSignal,
        }),
      );
      return Object.assign(response, { client, target });
    } catch (error) {
      client.destroy().catch(() => undefined);
      throw error;
    }
  }

  return {
    announced: { name: '' },
    explain: (error) => explainConnection(error, host) ?? failed(`${host} returned an invalid HTTP response.`, error),
    async open(offset, signal) {
      if (offset > 0 && validator === undefined)
        throw new CannotResume(`The transfer from ${host} was interrupted and cannot be resumed.`);
      const range = offset > 0 ? { range: `bytes=${offset}-`, 'if-range': validator ?? '' } : {};
      const response = await follow(signal, range);
      try {
        if (offset === 0) this.announced = begin(response);
        const { size } = this.announced;
        return { size: offset > 0 ? goOn(response, offset, size) : size, stream: bodyOf(response) };
      } catch (error) {
        discard(response);
        throw error;
      }
    },
  };
}

function refusal({ statusCode, headers }: HttpResponse, host: string): Error {
  const overload = explainOverload(statusCode, host, retryAfter(headers));
  if (overload) return overload;
  if (statusCode === 401) return invalidCredentials(`${host} requires credentials (status 401). Set them in headers.`);
  if (statusCode === 403) return insufficientPermission(`${host} does not allow access to this URL (status 403).`);
  if (statusCode === 404 || statusCode === 410)
    return failed(`There is no file at this URL: ${host} responded with status ${statusCode}.`);
  const status = `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trim();
  return failed(`${host} responded with status ${status} instead of the file.`);
}

type Headers = HttpResponse['headers'];

function headersOf(value: JsonValue | undefined): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name.toLowerCase(), String(text)]));
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function lengthOf(headers: Headers): number | undefined {
  const text = textOf(headers['content-length']);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Returns the validator of a file: a strong ETag, or else its date. */
function validatorOf(headers: Headers): string | undefined {
  const tag = textOf(headers.etag);
  // A weak ETag does not prove that the bytes are the same, and If-Range does not accept it.
  return tag?.startsWith('"') ? tag : textOf(headers['last-modified']);
}

/** Returns whether a part is of another version. It need not repeat ETag and date: If-Range has checked them. */
function isAnother(headers: Headers, validator: string | undefined): boolean {
  const tag = textOf(headers.etag);
  return tag?.startsWith('"') === true && validator?.startsWith('"') === true && tag !== validator;
}

function retryAfter(headers: Headers): number | undefined {
  const text = textOf(headers['retry-after']);
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

function bodyOf({ body, client }: HttpResponse) {
  body.once('close', () => void client.destroy().catch(() => undefined));
  return body;
}

function discard({ body, client }: HttpResponse): void {
  body.on('error', () => undefined).destroy();
  client.destroy().catch(() => undefined);
}
