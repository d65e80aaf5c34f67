/** An error of the runtime itself, by the type that Lambda reports for it. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly errorType: string;

  constructor(errorType: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.errorType = errorType;
  }
}

/** What the Runtime API takes as the error of an invocation or of the start. */
export interface ErrorReport {
  errorType: string;
  errorMessage: string;
  stackTrace: string[];
}

/** Puts whatever was thrown in the form of the Runtime API, under its own type where none is given. */
export function reportOf(error: unknown, errorType: string = typeOf(error)): ErrorReport {
  if (!(error instanceof Error)) return { errorType, errorMessage: String(error), stackTrace: [] };
  return { errorType, errorMessage: error.message, stackTrace: (error.stack ?? '').split('\n').slice(1) };
}

/** Returns the text of an error for the log, with its stack and what caused it. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? error.message;
  return error.cause === undefined ? text : `${text}\nCaused by: ${describeError(error.cause)}`;
}

function typeOf(error: unknown): string {
  if (error instanceof RuntimeError) return error.errorType;
  return error instanceof Error ? error.name : typeof error;
}
