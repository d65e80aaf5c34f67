import { FunctionError } from './function-error.ts';

/** Lambda's limit for the event and the response of a synchronous invocation. */
export const payloadLimitBytes = 6_291_556;
/** Lambda's limit for a response that is streamed. */
export const streamLimitBytes = 200 * 1024 * 1024;

/** Encodes an event as JSON, and refuses one above Lambda's limit. */
export function encodeEvent(event: unknown): string {
  const text = JSON.stringify(event) ?? 'null';
  const bytes = Buffer.byteLength(text);
  if (bytes > payloadLimitBytes) {
    throw new FunctionError(
      'RequestTooLargeException',
      `Request must be smaller than ${payloadLimitBytes} bytes for the InvokeFunction operation, got ${bytes}`,
    );
  }
  return text;
}

/** Creates the error for a response above Lambda's limit. */
export function responseTooLarge(limit: number): FunctionError {
  return new FunctionError(
    'Function.ResponseSizeTooLarge',
    `Response payload size exceeded maximum allowed payload size (${limit} bytes).`,
  );
}
