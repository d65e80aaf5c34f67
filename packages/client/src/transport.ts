import { builtin } from './builtins.ts';
import { errorOf, LatheError } from './errors.ts';
import { defaultRetryPolicy, pause, pauseBefore, type RetryPolicy } from './retry.ts';
import type { CallOptions } from './types.ts';

export interface TransportOptions {
  /** API key; not required for format queries and /health. */
  key?: string | undefined;
  /** Root of the API. */
  url?: string | URL | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
  retry?: Partial<RetryPolicy> | undefined;
  /** Timeout for a response; defaults to 60 seconds. */
  timeoutMs?: number | undefined;
}

export interface RequestOptions extends CallOptions {
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  headers?: Record<string, string>;
  /** Defaults to the retry policy. */
  retries?: number;
  /** Sent with every attempt of a creating request, so that retries do not create duplicates. */
  idempotencyKey?: string | undefined;
}

interface AttemptOptions extends CallOptions {
  /** How often a request is retried after an error; defaults to the retry policy. */
  retries?: number | ((error: LatheError) => number);
  timeoutMs: number | undefined;
}

/** The maximum of the service. */
const maxWaitSeconds = 25;

const defaultUrl = 'http://localhost:3000';

/** Sends requests to the service with the API key, and retries transient failures. */
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

  /** How long the service may hold a request: 25 seconds, or less if the client would time out. */
  get waitSeconds(): number {
    return Math.max(1, Math.min(maxWaitSeconds, Math.floor(this.#timeoutMs / 1000) - 2));
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
        ...this.#authorization(),
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
      const msg = `Expected JSON from ${this.url}. Check that it is the URL of a Lathe service.`;
      throw new LatheError('invalid_response', msg, { status: response.status, cause });
    }
  }

  /** Posts a form with the API key, and returns the whole response, with the headers of a redirect to it. */
  post(
    path: string,
    form: FormData,
    { headers, ...rest }: Omit<AttemptOptions, 'timeoutMs'> & { headers: Record<string, string> },
  ): Promise<Response> {
    const url = `${this.url}${path}`;
    const init = { method: 'POST', headers: { ...this.#authorization(), ...headers }, body: form };
    const request = async (own: AbortSignal) => {
      const response = await this.fetch(url, { ...init, signal: own, redirect });
      const location = response.headers.get('location');
      if (response.status !== 303 || location === null) return whole(response);
      return whole(await this.fetch(location, { signal: own }), response.headers);
    };
    return this.attempt(url, request, { ...rest, timeoutMs: this.#timeoutMs });
  }

  /** Sends a request with retries, and returns the response with its unread body. */
  send(url: string | URL, { signal, ...init }: Omit<RequestInit, 'signal'> & CallOptions): Promise<Response> {
    return this.attempt(url, (own) => this.fetch(url, { ...init, signal: own }), {
      signal,
      timeoutMs: this.#timeoutMs,
    });
  }

  /** Retries a request until it succeeds, fails permanently or is out of retries. Each attempt has its own signal. */
  async attempt(
    url: string | URL,
    request: (signal: AbortSignal) => Promise<Response>,
    { signal, retries = this.policy.retries, timeoutMs }: AttemptOptions,
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
      const limit = typeof retries === 'number' ? retries : retries(error);
      if (retry > limit || !error.mayPass || pauseMs > this.policy.maxRetryAfterMs) throw error;
      await pause(pauseMs, signal);
    }
  }

  #authorization(): Record<string, string> {
    return this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` };
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

/** Browsers only let a page follow a redirect automatically; then the headers of the redirect are lost. */
const redirect = builtin('node:fs') ? 'manual' : 'follow';

/** Reads a whole response, so that a connection lost in the meantime fails the attempt. */
async function whole(response: Response, otherHeaders?: Headers): Promise<Response> {
  const { status } = response;
  const headers = new Headers([...(otherHeaders ?? []), ...response.headers]);
  const body = await response.arrayBuffer();
  return new Response(body.byteLength === 0 ? null : body, { status, headers });
}

function rootOf(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** Returns the cause of a failed connection, because `fetch` only reports that it failed. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && cause.message) return cause.message;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error.message;
}

/** Creates a unique key; `crypto.randomUUID` is missing on pages without TLS. */
export function newIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
