import { errorOf, LatheError } from './errors.ts';
import { defaultRetryPolicy, pause, pauseBefore, type RetryPolicy } from './retry.ts';
import type { CallOptions } from './types.ts';

export interface TransportOptions {
  /** API key; format queries and /health need none. */
  key?: string | undefined;
  /** Root of the API. */
  url?: string | URL | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
  retry?: Partial<RetryPolicy> | undefined;
  /** How long to wait for the response to a request; defaults to 60 seconds. */
  timeoutMs?: number | undefined;
}

export interface RequestOptions extends CallOptions {
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  headers?: Record<string, string>;
  /** Defaults to those of the policy. */
  retries?: number;
  /** Sent with every attempt of a request that creates something, so that it creates one thing only. */
  idempotencyKey?: string | undefined;
}

interface AttemptOptions {
  signal?: AbortSignal | undefined;
  /** Defaults to those of the policy. */
  retries?: number;
}

const defaultUrl = 'http://localhost:3000';

/** Sends requests to the service with the key, and sends them again after failures that pass. */
export class Transport {
  readonly url: string;
  readonly policy: RetryPolicy;
  readonly #key: string | undefined;
  readonly fetch: typeof fetch;
  readonly #timeoutMs: number;

  constructor({ key, url = defaultUrl, fetch: ownFetch, retry, timeoutMs = 60_000 }: TransportOptions) {
    this.url = rootOf(url);
    this.policy = { ...defaultRetryPolicy, ...retry };
    this.#key = key?.trim();
    this.fetch = ownFetch ?? ((...args) => fetch(...args));
    this.#timeoutMs = timeoutMs;
  }

  /** Sends a request and returns the body of its response, or throws a `LatheError`. */
  async json<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    return (await this.call<T>(method, path, options)).body;
  }

  /** Sends a request and returns the body and the headers of its response, or throws a `LatheError`. */
  async call<T>(method: string, path: string, options: RequestOptions = {}): Promise<{ body: T; headers: Headers }> {
    const { query = {}, body, headers, idempotencyKey, ...rest } = options;
    const url = new URL(`${this.url}${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const init = {
      method,
      headers: {
        accept: 'application/json',
        ...(this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const response = await this.attempt(url, async (own) => whole(await this.fetch(url, { ...init, signal: own })), {
      ...rest,
      timeoutMs: this.#timeoutMs,
    });
    const text = await response.text();
    try {
      return { body: JSON.parse(text || 'null'), headers: response.headers };
    } catch (cause) {
      const msg = `${this.url} responded with something other than JSON: is it the address of a Lathe service?`;
      throw new LatheError('invalid_response', msg, { status: response.status, cause });
    }
  }

  /** Sends a request until it succeeds, fails for good or is out of retries; returns the response to read. */
  send(
    url: string | URL,
    { signal, retries, ...init }: Omit<RequestInit, 'signal'> & AttemptOptions,
  ): Promise<Response> {
    return this.attempt(url, (own) => this.fetch(url, { ...init, signal: own }), {
      signal,
      timeoutMs: this.#timeoutMs,
      ...(retries === undefined ? {} : { retries }),
    });
  }

  /** Makes attempts at a request, each with a signal of its own, until one succeeds, fails for good or is the last. */
  async attempt(
    url: string | URL,
    request: (signal: AbortSignal) => Promise<Response>,
    { signal, retries = this.policy.retries, timeoutMs }: AttemptOptions & { timeoutMs: number | undefined },
  ): Promise<Response> {
    for (let retry = 1; ; retry += 1) {
      signal?.throwIfAborted();
      const outcome = await withTimeout(request, timeoutMs, signal).catch((error: unknown) => this.#failed(url, error));
      signal?.throwIfAborted();
      if (outcome instanceof Response && outcome.ok) return outcome;
      const error =
        outcome instanceof Response
          ? await errorOf(outcome).catch((cause: unknown) => this.#failed(url, cause))
          : outcome;
      const pauseMs = error.retryAfterMs ?? pauseBefore(retry, this.policy);
      if (retry > retries || !error.mayPass || pauseMs > this.policy.maxRetryAfterMs) throw error;
      await pause(pauseMs, signal);
    }
  }

  #failed(url: string | URL, error: unknown): LatheError {
    const cause = error instanceof Error && error.cause instanceof LatheError ? error.cause : error;
    if (cause instanceof LatheError) return cause;
    return new LatheError('unreachable', `${new URL(url).origin} cannot be reached (${reasonOf(error)}).`, { cause });
  }
}

async function withTimeout(
  request: (signal: AbortSignal) => Promise<Response>,
  timeoutMs: number | undefined,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const timeout = new AbortController();
  const expire = () => timeout.abort(new Error(`No response within ${Number(timeoutMs) / 1000} seconds.`));
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
  try {
    return await request(signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal);
  } finally {
    // Reading the body of a large file may take longer.
    clearTimeout(timer);
  }
}

/** Reads a response to its end, so that a connection that is lost meanwhile is an attempt that failed. */
async function whole(response: Response): Promise<Response> {
  const { status, headers } = response;
  const body = await response.arrayBuffer();
  return new Response(body.byteLength === 0 ? null : body, { status, headers });
}

function rootOf(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** Returns what a failed connection is about: `fetch` itself says only that it failed. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && cause.message) return cause.message;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error.message;
}

/** Makes a key that no other request has; `crypto.randomUUID` is missing on pages without TLS. */
export function newIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
