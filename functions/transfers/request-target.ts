/** An address to fetch: the URL as the policy checks it, and the request target as the client wrote it. */
export interface Target {
  url: URL;
  path: string;
}

/**
 * Reads a URL without changing what follows its host. Parsing re-encodes some characters and resolves dots, and either
 * breaks the signature of a presigned URL.
 */
export function readTarget(text: string): Target {
  const url = new URL(text);
  // Parsing skips blanks around and line breaks within.
  const written = text.trim().replace(/[\t\r\n]/g, '');
  const rest = /^https?:\/\/[^/?#\\]*(.*)$/is.exec(written)?.[1];
  if (rest === undefined || rest.startsWith('\\')) return { url, path: url.pathname + url.search };
  return { url, path: requestPath(rest) };
}

/** Resolves the Location of a redirect, with the same care for its bytes. */
export function readLocation(location: string, from: URL): Target {
  // Header values come as Latin-1, byte for byte.
  const text = Buffer.from(location, 'latin1').toString('utf8');
  if (/^https?:\/\//i.test(text.trim())) return readTarget(text);
  const url = new URL(text, from);
  return /^\/[^/\\]/.test(text) ? { url, path: requestPath(text) } : { url, path: url.pathname + url.search };
}

/** Encodes only what a request line cannot hold. */
function requestPath(rest: string): string {
  const [sent = ''] = rest.split('#');
  const encoded = sent.replace(/[^\x21-\x7e]/gu, (character) =>
    [...Buffer.from(character.toWellFormed(), 'utf8')]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
  return encoded.startsWith('/') ? encoded : `/${encoded}`;
}
