/** Parses the filename of a Content-Disposition header: RFC 6266 and common deviations. */
export function fileNameOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const parameters = parametersOf(header);
  return extended(parameters.get('filename*')) ?? plain(parameters.get('filename'));
}

/** Matches `; name=value` with a quoted or bare value, which may have spaces. */
const parameter = /;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g;

function parametersOf(header: string): Map<string, string> {
  const found = new Map<string, string>();
  // The disposition type may be missing.
  for (const [, name = '', quoted, bare = ''] of `;${header}`.matchAll(parameter)) {
    const value = quoted === undefined ? bare.trim() : quoted.replace(/\\(.)/g, '$1');
    // The first one wins, so that a second cannot hide it.
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  return found;
}

function extended(value: string | undefined): string | undefined {
  const match = /^([\w-]+)'[\w-]*'(.*)$/.exec(value ?? '');
  if (!match) return undefined;
  const [, charset = '', encoded = ''] = match;
  const bytes = percentDecoded(encoded);
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes) || undefined;
  } catch {
    return undefined;
  }
}

function plain(value: string | undefined): string | undefined {
  if (!value) return undefined;
  const mime = mimeWords(value);
  if (mime !== value) return mime;
  const text = asUtf8(value);
  // Not standard, but sent by several frameworks.
  return /%[0-9a-f]{2}/i.test(text) ? (utf8Of(percentDecoded(text)) ?? text) : text;
}

function mimeWords(value: string): string {
  // Whitespace between two encoded words is only a separator.
  return value
    .replace(/\?=\s+(?==\?)/g, '?=')
    .replace(/=\?([\w-]+)\?([bq])\?([^?]*)\?=/gi, (word, charset: string, kind: string, text: string) => {
      const bytes =
        kind.toLowerCase() === 'b'
          ? Buffer.from(text, 'base64')
          : percentDecoded(text.replaceAll('_', ' ').replaceAll('=', '%'));
      try {
        return new TextDecoder(charset).decode(bytes);
      } catch {
        return word;
      }
    });
}

/** Header values are decoded as Latin-1, but most servers send UTF-8. */
function asUtf8(value: string): string {
  return /[\u0100-\uffff]/.test(value) ? value : (utf8Of(Buffer.from(value, 'latin1')) ?? value);
}

function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function percentDecoded(text: string): Buffer {
  const parts = text
    .split(/(%[0-9a-f]{2})/i)
    .map((part) => (/^%[0-9a-f]{2}$/i.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part, 'utf8')));
  return Buffer.concat(parts);
}

/** Returns the filename in the path of a URL: its last segment, decoded if possible. */
export function nameInPath(path: string): string {
  const [bare = ''] = path.split(/[?#]/);
  const segment = bare.split('/').at(-1) ?? '';
  return utf8Of(percentDecoded(segment)) ?? segment;
}
