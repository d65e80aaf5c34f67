import { FunctionError } from './function-error.ts';

/** Lambda's limit for the event and the response of a synchronous invocation. */
const PAYLOAD_LIMIT_BYTES = 6_291_556;

/** Encodes an event as JSON, and refuses one that Lambda would not take. */
export function encodeEvent(event: unknown): string {
  const text = JSON.stringify(event) ?? 'null';
  const bytes = Buffer.byteLength(text);
  if (bytes > PAYLOAD_LIMIT_BYTES) {
    throw new FunctionError(
      'RequestTooLargeException',
      `Request must be smaller than ${PAYLOAD_LIMIT_BYTES} bytes for the InvokeFunction operation, got ${bytes}`,
    );
  }
  return text;
}

/** Encodes what a handler returned as JSON, and refuses what Lambda would not return. */
export function encodeResult(result: unknown): string {
  const text = JSON.stringify(result) ?? 'null';
  if (Buffer.byteLength(text) > PAYLOAD_LIMIT_BYTES) {
    throw new FunctionError(
      'Function.ResponseSizeTooLarge',
      `Response payload size exceeded maximum allowed payload size (${PAYLOAD_LIMIT_BYTES} bytes).`,
    );
  }
  return text;
}
