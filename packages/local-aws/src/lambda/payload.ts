import { FunctionError } from './function-error.ts';

/** Lambda's limit for the event and the response of a synchronous invocation. */
export const payloadLimitBytes = 6_291_556;
/** Lambda's limit for a response that is streamed. */
export const streamLimitBytes = 200 * 1024 * 1024;

/** Encodes an event as JSON unless it already is, in a buffer. Refuses one above Lambda's limit. */
export function encodeEvent(event: unknown): Buffer {
  const json = Buffer.isBuffer(event) ? event : Buffer.from(JSON.stringify(event) ?? 'null');
  if (json.length > payloadLimitBytes) {
    throw new FunctionError(
      'RequestTooLargeException',
      `Request must be smaller than ${payloadLimitBytes} bytes for the InvokeFunction operation, got ${json.length}`,
    );
  }
  return json;
}

/** Creates the error for a response above Lambda's limit. */
export function responseTooLarge(limit: number): FunctionError {
  return new FunctionError(
    'Function.ResponseSizeTooLarge',
    `Response payload size exceeded maximum allowed payload size (${limit} bytes).`,
  );
}
