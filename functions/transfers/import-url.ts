import { STATUS_CODES } from 'node:http';
import { Client } from 'undici';
import { checkUrl, connectOptions } from '../../shared/net/addresses.ts';
import type { JsonValue } from '../../shared/tasks/task.ts';
import type { Run, RunResult } from '../worker/worker.ts';
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
import { deploymentSettings, type Incoming, receive, type TransferSettings } from './receive.ts';
import { readLocation, readTarget, type Target } from './request-target.ts';

const maxRedirects = 10;

/** Fetches the file of a URL. */
export async function importUrl(run: Run, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const file = await receive(run, 0, new RemoteFile(run.parameters, settings), settings);
  return { files: [file] };
}

type HttpResponse = Awaited<ReturnType<Client['request']>> & { client: Client; target: Target };

/** A file behind a URL; a transfer is resumed if the server can confirm that the file is unchanged. */
class RemoteFile implements Incoming {
  readonly #start: Target;
  readonly #headers: Record<string, string>;
  readonly #settings: TransferSettings;
  #host: string;
  announced: Announced = { name: '' };
  #validator: string | undefined;

  constructor(parameters: Record<string, JsonValue>, settings: TransferSettings) {
    this.#start = readTarget(String(parameters.url));
    this.#headers = headersOf(parameters.headers);
    this.#settings = settings;
    this.#host = this.#start.url.host;
  }

  explain(error: unknown): Error {
    return explainConnection(error, this.#host) ?? failed(`${this.#host} returned an invalid HTTP response.`, error);
  }

  async open(offset: number, signal: AbortSignal) {
    const validator = this.#validator;
    if (offset > 0 && validator === undefined)
      throw new CannotResume(`The transfer from ${this.#host} was interrupted and cannot be resumed.`);
    const range = offset > 0 ? { range: `bytes=${offset}-`, 'if-range': validator ?? '' } : {};
    const response = await this.#follow(signal, range);
    try {
      return offset > 0 ? this.#goOn(response, offset) : this.#begin(response);
    } catch (error) {
      discard(response);
      throw error;
    }
  }

  #begin(response: HttpResponse) {
    const { headers, statusCode, target } = response;
    if (statusCode !== 200 && statusCode !== 203) throw this.#refusal(response);
    const size = lengthOf(headers);
    this.#validator = validatorOf(headers);
    this.announced = {
      name: fileNameOf(textOf(headers['content-disposition'])) ?? nameInPath(target.path),
      mediaType: textOf(headers['content-type']),
      encoding: textOf(headers['content-encoding']),
      size,
    };
    return { stream: bodyOf(response), size };
  }

  #goOn(response: HttpResponse, offset: number) {
    const { headers, statusCode } = response;
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(textOf(headers['content-range']) ?? '');
    const overload = explainOverload(statusCode, this.#host, retryAfter(headers));
    if (overload) throw overload;
    const { size } = this.announced;
    const whole = range?.[2] === undefined || range[2] === '*' ? undefined : Number(range[2]);
    const same = size === undefined || whole === undefined || whole === size;
    if (statusCode !== 206 || Number(range?.[1]) !== offset || !same || isAnother(headers, this.#validator))
      throw new CannotResume(`The transfer from ${this.#host} was interrupted and could not be resumed.`);
    return { stream: bodyOf(response), size: size ?? whole };
  }

  /** Requests the file and follows redirects, each of them checked like the first address. */
  async #follow(signal: AbortSignal, extra: Record<string, string>): Promise<HttpResponse> {
    let target = this.#start;
    for (let hop = 0; hop <= maxRedirects; hop++) {
      this.#host = target.url.host;
      // Headers for one origin are not sent to another: any of them may hold a credential.
      const own = target.url.origin === this.#start.url.origin ? this.#headers : {};
      const response = await this.#ask(target, { ...own, ...extra }, signal);
      const location = textOf(response.headers.location);
      if (![301, 302, 303, 307, 308].includes(response.statusCode) || location === undefined) return response;
      discard(response);
      try {
        target = readLocation(location, target.url);
      } catch (error) {
        throw failed(`${this.#host} redirects to an invalid URL.`, error);
      }
    }
    throw failed(`${this.#start.url.host} redirects more than ${maxRedirects} times.`);
  }

  async #ask(target: Target, headers: Record<string, string>, signal: AbortSignal): Promise<HttpResponse> {
    const { outbound, retryPolicy } = this.#settings;
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
    const deadline = AbortSignal.timeout(retryPolicy.idleTimeoutMs);
    try {
      const request = client.request({
        method: 'GET',
        path: target.path,
        headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Lathe', ...headers },
        signal,
      });
      // A server that sends its headers byte by byte keeps resetting the client's own timer.
      const late = new Promise<never>((_resolve, reject) => {
        deadline.addEventListener('abort', () => reject(deadline.reason), { once: true });
      });
      const response = await Promise.race([request, late]);
      return Object.assign(response, { client, target });
    } catch (error) {
      client.destroy().catch(() => undefined);
      if (deadline.aborted && !signal.aborted)
        throw Object.assign(new Error('The response did not start in time.', { cause: error }), { code: 'ETIMEDOUT' });
      throw error;
    }
  }

  #refusal({ statusCode, headers }: HttpResponse): Error {
    const host = this.#host;
    const overload = explainOverload(statusCode, host, retryAfter(headers));
    if (overload) return overload;
    if (statusCode === 401)
      return invalidCredentials(`${host} requires credentials (status 401). Set them in headers.`);
    if (statusCode === 403) return insufficientPermission(`${host} does not allow access to this URL (status 403).`);
    if (statusCode === 404 || statusCode === 410)
      return failed(`There is no file at this URL: ${host} responded with status ${statusCode}.`);
    return failed(
      `${host} responded with status ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`
        .trim()
        .concat(' instead of the file.'),
    );
  }
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
