/** Returns why a file is too large. */
export function tooLarge(size: number, maxBytes: number): string {
  return `Expected a file of at most ${maxBytes} bytes but received ${size}.`;
}

/** Returns the size of a part of a file of known size; undefined if the file has no such part. */
export function sizeOfPart(number: number, size: number, partBytes: number): number | undefined {
  const start = (number - 1) * partBytes;
  // An empty file has one empty part.
  if (start > 0 && start >= size) return undefined;
  return Math.min(partBytes, size - start);
}
