/** Field path to what is wrong with it, in the order found. */
export type FieldErrors = Record<string, string[]>;

/** An error answer: what the client is told, and the cause that only the log sees. */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly status: number;
  readonly errorCode: string;
  readonly errors: FieldErrors | undefined;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    errorCode: string,
    msg: string,
    details: { errors?: FieldErrors; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(msg, { cause: details.cause });
    this.status = status;
    this.errorCode = errorCode;
    this.errors = details.errors;
    this.headers = details.headers ?? {};
  }
}

/** Builds the 400 that names each field to blame. */
export function badRequest(msg: string, errors?: FieldErrors, cause?: unknown): HttpError {
  return new HttpError(400, 'bad_request', msg, { ...(errors ? { errors } : {}), cause });
}

/** Builds the 400 for fields only, with a message that repeats the first of them. */
export function invalidFields(errors: FieldErrors): HttpError {
  const [first] = Object.entries(errors);
  return badRequest(first ? `${first[0]}: ${first[1][0]}` : 'The request is invalid.', errors);
}

/** Builds the 401 for a key that is missing or that nobody has. */
export function unauthorized(msg: string): HttpError {
  return new HttpError(401, 'unauthorized', msg, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

/** Builds the 404 for something that is not there, or not the caller's, which looks the same from outside. */
export function notFound(msg: string): HttpError {
  return new HttpError(404, 'not_found', msg);
}

/** Builds the 409 for a request that the present state refuses. */
export function conflict(msg: string): HttpError {
  return new HttpError(409, 'conflict', msg);
}
