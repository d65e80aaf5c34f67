import { isAscii } from 'node:buffer';
import { randomUUID } from 'node:crypto';

/** Strings from this length are cut out. */
const minLength = 64 * 1024;
const backslash = '\\'.charCodeAt(0);

/**
 * Parses JSON text that Lambda has checked. Files in base64 are cut out first: JSON.parse takes several times as long for
 * strings of megabytes as copying them does.
 */
export function parseJson(text: Buffer): unknown {
  if (text.length < minLength || !isAscii(text)) return JSON.parse(text.toString());
  const place = randomUUID();
  const long: string[] = [];
  let rest = '';
  let copied = 0;
  for (let open = text.indexOf('"'); open !== -1; ) {
    const start = open + 1;
    const end = text.indexOf('"', start);
    if (end - start >= minLength && isPlainString(text, start, end)) {
      rest += text.toString('latin1', copied, start) + place + long.length;
      long.push(text.toString('latin1', start, end));
      copied = end;
    }
    open = end;
  }
  if (long.length === 0) return JSON.parse(text.toString('latin1'));
  return JSON.parse(rest + text.toString('latin1', copied), (_, value) =>
    typeof value === 'string' && value.startsWith(place) ? long[Number(value.slice(place.length))] : value,
  );
}

/** Returns whether two quotes enclose a whole value without escapes. Between two strings there is a colon or a comma. */
function isPlainString(text: Buffer, start: number, end: number): boolean {
  const content = text.subarray(start, end);
  const isValue = [',', '}', ']'].includes(String.fromCharCode(text[end + 1] ?? 0)) && text[start - 2] !== backslash;
  return isValue && ![':', ',', '\\'].some((sign) => content.includes(sign));
}
