import { AddressRefused, HostNotFound } from '../../shared/net/addresses.ts';
import { TaskError } from '../invocation/errors.ts';

/** A failure that may be temporary: a dropped or stalled connection, an overloaded server. Its message is shown to the user if it persists. */
export class Transient extends Error {
  override name = 'Transient';
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { cause?: unknown; retryAfterMs?: number | undefined } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The transfer cannot be resumed: the source changed, or does not support ranges. It must be read again from its start. */
export class CannotResume extends Error {
  override name = 'CannotResume';
}

/** A file could not be read from the service's own bucket: no fault of the other side, so the run is retried. */
export class InputUnreadable extends Error {
  override name = 'InputUnreadable';
}

/** Returns the failure of a task for reasons other than credentials. */
export function failed(msg: string, cause?: unknown): TaskError {
  return new TaskError({ errorCode: 'processing_failed', msg }, { cause });
}

/** Returns the failure of a task whose credentials are rejected. */
export function invalidCredentials(msg: string, cause?: unknown): TaskError {
  return new TaskError({ errorCode: 'invalid_credentials', msg }, { cause });
}

/** Returns the failure of a task whose credentials lack a permission. */
export function insufficientPermission(msg: string, cause?: unknown): TaskError {
  return new TaskError({ errorCode: 'insufficient_permission', msg }, { cause });
}

/** Returns whether an error has already been translated for the service. */
export function isExplained(error: unknown): error is Error {
  return (
    error instanceof TaskError ||
    error instanceof Transient ||
    error instanceof CannotResume ||
    error instanceof InputUnreadable
  );
}

const droppedCodes = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENETDOWN',
  'ENETRESET',
  'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ABORT_ERR',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_ABORTED',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
  // The code of llhttp for a body that ends in the middle of a chunk.
  'HPE_INVALID_EOF_STATE',
]);
const timeoutCodes = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);
const certificateCodes =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_PURPOSE)/;

/** Translates a connection error from any library; returns undefined for other errors. */
export function explainConnection(error: unknown, host: string): Error | undefined {
  for (const cause of causes(error)) {
    if (isExplained(cause)) return cause;
    if (cause instanceof AddressRefused || cause instanceof HostNotFound) return failed(cause.message, error);
    const code = codeOf(cause) ?? (cause instanceof Error && cause.name === 'AbortError' ? 'ABORT_ERR' : undefined);
    if (code === undefined) continue;
    if (certificateCodes.test(code))
      return failed(`The certificate of ${host} could not be verified (${code}), so nothing was sent.`, error);
    if (code === 'ECONNREFUSED') return failed(`${host} refused the connection. Check the host and its port.`, error);
    if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH')
      return failed(`${host} is unreachable. Check the host and its port.`, error);
    if (code === 'ENOTFOUND') return failed(`The host ${host} was not found. Check its spelling.`, error);
    if (timeoutCodes.has(code)) return new Transient(`${host} did not respond in time.`, { cause: error });
    if (code === 'EPROTO' || code.startsWith('ERR_SSL'))
      return failed(`The TLS handshake with ${host} failed. Check whether the port supports https.`, error);
    if (droppedCodes.has(code)) return new Transient(`The connection to ${host} was dropped.`, { cause: error });
  }
  return undefined;
}

/** Translates a status that is worth a retry; returns undefined for any other. */
export function explainOverload(
  status: number | undefined,
  host: string,
  retryAfterMs?: number,
): Transient | undefined {
  if (status === undefined) return undefined;
  if (status === 408 || status === 425 || status === 429)
    return new Transient(`${host} asked to retry later (status ${status}).`, { retryAfterMs });
  if (status >= 500 && status !== 501 && status !== 505)
    return new Transient(`${host} failed (status ${status}).`, { retryAfterMs });
  return undefined;
}

function* causes(error: unknown): Generator<object> {
  const pending = [error];
  for (let depth = 0; depth < 12 && pending.length > 0; depth++) {
    const next = pending.shift();
    if (typeof next !== 'object' || next === null) continue;
    yield next;
    if ('cause' in next) pending.push(next.cause);
    // Several addresses of one host failed, each in its way.
    if (next instanceof AggregateError) pending.push(...next.errors);
  }
}

function codeOf(error: object): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
