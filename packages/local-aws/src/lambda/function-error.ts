/** The error of an invocation whose function threw, exited, timed out or could not be loaded. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  readonly errorType: string;

  constructor(errorType: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.errorType = errorType;
  }
}
