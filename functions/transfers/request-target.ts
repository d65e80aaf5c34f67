/** A URL to fetch: parsed for the outbound policy, and with its request target as the client wrote it. */
export interface Target {
  url: URL;
  path: string;
}

/**
 * Parses a URL without changing the part after its host. URL parsing re-encodes characters and resolves dots, which breaks
 * the signature of a presigned URL.
 */
export function readTarget(text: string): Target {
  const url = new URL(text);
  // URL parsing ignores surrounding whitespace and line breaks.
  const written = text.trim().replace(/[\t\r\n]/g, '');
  const rest = /^https?:\/\/[^/?#\\]*(.*)$/is.exec(written)?.[1];
  if (rest === undefined || rest.startsWith('\\')) return { url, path: url.pathname + url.search };
  return { url, path: requestPath(rest) };
}

/** Resolves the Location of a redirect, with its bytes unchanged. */
export function readLocation(location: string, from: URL): Target {
  // Header values are decoded as Latin-1.
  const text = Buffer.from(location, 'latin1').toString('utf8');
  if (/^https?:\/\//i.test(text.trim())) return readTarget(text);
  const url = new URL(text, from);
  return /^\/[^/\\]/.test(text) ? { url, path: requestPath(text) } : { url, path: url.pathname + url.search };
}

/** Encodes only characters that are invalid in a request line. */
function requestPath(rest: string): string {
  const [sent = ''] = rest.split('#');
  const encoded = sent.replace(/[^\x21-\x7e]/gu, (character) =>
    [...Buffer.from(character.toWellFormed(), 'utf8')]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
  return encoded.startsWith('/') ? encoded : `/${encoded}`;
}
