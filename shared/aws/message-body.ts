/**
 * Serializes a message for SQS as JSON in ASCII. SQS refuses U+FFFE, U+FFFF, lone surrogates and most control characters
 * in a body; escaped, any text that a client sends arrives as it was.
 */
export function messageBody(message: object): string {
  return JSON.stringify(message).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
