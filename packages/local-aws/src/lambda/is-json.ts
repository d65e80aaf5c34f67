import { isAscii } from 'node:buffer';

/** Strings from this length are checked without parsing them. */
const minLength = 64 * 1024;

/**
 * Returns whether bytes are JSON text. Files in base64 are checked apart, because JSON.parse takes several times as long for
 * strings of megabytes.
 */
export function isJson(text: Buffer): boolean {
  try {
    JSON.parse(isAscii(text) ? withoutLongStrings(text) : text.toString());
    return true;
  } catch {
    return false;
  }
}

/** Returns text that is JSON if the original is, with an empty string for each long one without escapes. */
function withoutLongStrings(text: Buffer): string {
  let rest = '';
  let copied = 0;
  for (let open = text.indexOf('"'); open !== -1; ) {
    const start = open + 1;
    const end = text.indexOf('"', start);
    if (end - start >= minLength && isPlain(text.subarray(start, end))) {
      rest += text.toString('latin1', copied, start);
      copied = end;
    }
    open = end;
  }
  return rest + text.toString('latin1', copied);
}

/**
 * Returns whether text between two quotes must be a string, and a valid one: it contains no escape, no control character
 * and no colon or comma, because one of these separates any two strings.
 */
function isPlain(text: Buffer): boolean {
  if ([':', ',', '\\'].some((sign) => text.includes(sign))) return false;
  const start = -text.byteOffset & 3;
  const words = new Int32Array(text.buffer, text.byteOffset + start, (text.length - start) >> 2);
  let isBelowSpace = 0;
  // Subtracting a space from each byte of a word sets the highest bit of those below it. A loop: a callback takes ten times as long.
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? 0;
    isBelowSpace |= (word - 0x20202020) & ~word & 0x80808080;
  }
  const edges = [...text.subarray(0, 4), ...text.subarray(-4)];
  return isBelowSpace === 0 && edges.every((byte) => byte >= 0x20);
}
