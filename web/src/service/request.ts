import { retryAfterOf } from '../../../packages/client/src/retry.ts';
import type { ErrorBody } from './types.ts';

/** A failed request, with the message of the service. */
export class RequestError extends Error {
  override name = 'RequestError';
  readonly status: number;
  /** Problems by field. */
  readonly fields: Record<string, string[]>;
  /** Delay that the service requests before a retry. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, { msg, errors = {} }: Pick<ErrorBody, 'msg' | 'errors'>, retryAfterMs?: number) {
    super(msg);
    this.status = status;
    this.fields = errors;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Sent with every request: the CSRF token and the account. */
export const sent: { csrf?: string; account?: string } = {};

/** Sends a request to the service and returns the body of its response. */
export async function request<T>(...given: Parameters<typeof call>): Promise<T> {
  return (await call<T>(...given)).body;
}

/** Sends a request to the service and returns the body and headers of its response. */
export async function call<T>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<{ body: T; headers: Headers }> {
  const headers = { accept: 'application/json', ...(body ? { 'content-type': 'application/json' } : {}) };
  const response = await send(method, path, { headers, signal, ...(body ? { body: JSON.stringify(body) } : {}) });
  // A deletion has no body.
  const text = await response.text();
  return { body: (text === '' ? undefined : JSON.parse(text)) as T, headers: response.headers };
}

interface Sent {
  headers?: Record<string, string>;
  body?: string | FormData;
  signal?: AbortSignal | undefined;
}

/** Sends a request to the service and returns its response, or throws a `RequestError`. */
export async function send(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { headers, body, signal }: Sent,
): Promise<Response> {
  const response = await fetch(path, {
    method,
    headers: {
      ...headers,
      ...(sent.csrf !== undefined && method !== 'GET' ? { 'lathe-csrf': sent.csrf } : {}),
      ...(sent.account === undefined ? {} : { 'lathe-account': sent.account }),
    },
    ...(body ? { body } : {}),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw unreachable();
  });
  if (response.ok) return response;
  throw new RequestError(response.status, await errorOf(response), retryAfterOf(response.headers));
}

/** Returns the error of a request without a response. */
export function unreachable(): RequestError {
  return new RequestError(0, { msg: 'The service cannot be reached. Check that it is running, then try again.' });
}

async function errorOf(response: Response): Promise<Pick<ErrorBody, 'msg' | 'errors'>> {
  try {
    const { msg, errors } = (await response.json()) as Partial<ErrorBody>;
    if (msg !== undefined) return { msg, ...(errors ? { errors } : {}) };
  } catch {
    // A gateway in between responds in its own format.
  }
  return { msg: `The service responded with status ${response.status}.` };
}

/** Returns the message of an error for display. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const fields = error instanceof RequestError ? Object.entries(error.fields) : [];
  const details = fields.map(([name, problems]) => `${name}: ${problems.join(' ')}`);
  return details.length > 0 ? details.join(' ') : error.message;
}
