/** An error of the runtime itself, by Lambda's error type. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly errorType: string;

  constructor(errorType: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.errorType = errorType;
  }
}

/** An error in the format of the Runtime API. */
export interface ErrorReport {
  errorType: string;
  errorMessage: string;
  stackTrace: string[];
}

/** Converts a thrown value to the format of the Runtime API, under its own type unless one is given. */
export function reportOf(error: unknown, errorType: string = typeOf(error)): ErrorReport {
  if (!(error instanceof Error)) return { errorType, errorMessage: String(error), stackTrace: [] };
  return { errorType, errorMessage: error.message, stackTrace: (error.stack ?? '').split('\n').slice(1) };
}

/** Returns the text of an error for the log, with its stack and causes. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? error.message;
  return error.cause === undefined ? text : `${text}\nCaused by: ${describeError(error.cause)}`;
}

function typeOf(error: unknown): string {
  if (error instanceof RuntimeError) return error.errorType;
  return error instanceof Error ? error.name : typeof error;
}
