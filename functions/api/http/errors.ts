import type { FieldErrors, Refusal } from '../../../shared/operations/problems.ts';

/** An error response. Its cause is only logged. */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly status: number;
  readonly errorCode: string;
  readonly errors: FieldErrors | undefined;
  readonly reason: Refusal | undefined;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    errorCode: string,
    msg: string,
    details: { errors?: FieldErrors; reason?: Refusal; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(msg, { cause: details.cause });
    this.status = status;
    this.errorCode = errorCode;
    this.errors = details.errors;
    this.reason = details.reason;
    this.headers = details.headers ?? {};
  }
}

/** Builds the 400 that names each invalid field. */
export function badRequest(msg: string, errors?: FieldErrors, cause?: unknown): HttpError {
  return new HttpError(400, 'bad_request', msg, { ...(errors ? { errors } : {}), cause });
}

/** Bounds of an error response, because clients control the number of errors. */
const maxFields = 100;
const maxProblems = 5;
const maxNameLength = 300;

/** Builds the 400 for invalid fields, with a message that repeats the first problem. */
export function invalidFields(errors: FieldErrors, reason?: Refusal): HttpError {
  const entries = Object.entries(errors)
    .slice(0, maxFields)
    .map(([name, problems]) => [name.slice(0, maxNameLength).toWellFormed(), problems.slice(0, maxProblems)] as const);
  const [first] = entries;
  const msg = first ? `${first[0]}: ${first[1][0]}` : 'The request is invalid.';
  return new HttpError(400, 'bad_request', msg, { errors: Object.fromEntries(entries), ...(reason ? { reason } : {}) });
}

/** Builds the 401 for a missing or invalid key. */
export function unauthorized(msg: string): HttpError {
  return new HttpError(401, 'unauthorized', msg, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

/** Builds the 403 for a request that the key or role of the caller does not allow. */
export function insufficientPermission(problem: string | FieldErrors): HttpError {
  if (typeof problem === 'string') return new HttpError(403, 'insufficient_permission', problem);
  const { message, errors } = invalidFields(problem);
  return new HttpError(403, 'insufficient_permission', message, errors ? { errors } : {});
}

/** Builds the 404 for a resource that does not exist or belongs to another account. */
export function notFound(msg: string): HttpError {
  return new HttpError(404, 'not_found', msg);
}

/** Builds the 409 for a request that conflicts with the current state. */
export function conflict(msg: string): HttpError {
  return new HttpError(409, 'conflict', msg);
}
