const maxNameBytes = 200;
const maxExtensionLength = 16;

/** Makes a name safe to display, to put in a header and to write into an archive, while keeping it recognizable. */
export function safeName(name: string, fallback = 'file'): string {
  const bare = trimEnds(
    (name.toWellFormed().split(/[/\\]/).at(-1) ?? '')
      // Control characters and line separators break headers and listings; bidi controls disguise extensions.
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufffd]/gu, '')
      .replace(/[<>:"|?*]/g, '_')
      .normalize('NFC'),
  );
  if (!bare) return fallback;
  const short = shorten(bare);
  return reservedName.test(short) ? shorten(`_${short}`) : short;
}

// Names that Windows reserves for devices, whatever follows the first dot.
const reservedName = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d\u00b9\u00b2\u00b3])\s*(?:\.|$)/i;

// Leading dots hide a file. Windows drops trailing dots and spaces, so two names could become one.
function trimEnds(name: string): string {
  return name.replace(/^[\s.]+|[\s.]+$/g, '');
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= maxNameBytes) return name;
  const extension = extensionOf(name);
  const tail = extension.length <= maxExtensionLength ? suffixOf(name) : '';
  let left = maxNameBytes - Buffer.byteLength(tail);
  let end = 0;
  for (const char of name.slice(0, name.length - tail.length)) {
    left -= Buffer.byteLength(char);
    if (left < 0) break;
    end += char.length;
  }
  return trimEnds(name.slice(0, end)) + tail;
}

/** Returns the extension of a name in lower case without its dot, or an empty string. `tar.gz` and the like count as one. */
export function extensionOf(name: string): string {
  return suffixOf(name).slice(1).toLowerCase();
}

// In original case: lower-casing may change the length.
function suffixOf(name: string): string {
  const match = /\.(?:tar\.(?:gz|bz2|xz)|[^./\\\s]+)$/i.exec(name);
  return match && match.index > 0 ? match[0] : '';
}

/** Returns a name without its extension. */
export function stemOf(name: string): string {
  return name.slice(0, name.length - suffixOf(name).length);
}

/** Returns a name with its extension replaced, and a suffix such as a page number added to its stem. */
export function withExtension(name: string, extension: string, part?: string): string {
  return safeName(`${stemOf(name)}${part === undefined ? '' : `-${part}`}.${extension}`);
}

/** Makes names unique, ignoring case, by numbering repeated ones before their extension. Other names are kept. */
export function uniqueNames(names: string[]): string[] {
  const given = new Set(names.map((name) => name.toLowerCase()));
  const taken = new Set<string>();
  return names.map((name) => {
    let candidate = name;
    for (let number = 2; taken.has(candidate.toLowerCase()); number++) {
      const next = `${stemOf(name)} (${number})${suffixOf(name)}`;
      if (!given.has(next.toLowerCase())) candidate = next;
    }
    taken.add(candidate.toLowerCase());
    return candidate;
  });
}

/** Formats a Content-Disposition value for any script: the RFC 5987 form with an ASCII fallback, as in RFC 6266. */
export function contentDisposition(name: string, type: 'attachment' | 'inline' = 'attachment'): string {
  const ascii = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return ascii === name ? `${type}; filename="${ascii}"` : `${type}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

/** Returns the names of exported files: the requested one, completed by the file's extension, or their own. */
export function exportedNames(files: { name: string; format: string }[], filename: unknown): string[] {
  return uniqueNames(files.map((file) => (typeof filename === 'string' ? renamed(filename, file) : file.name)));
}

function renamed(filename: string, file: { name: string; format: string }): string {
  const name = safeName(filename);
  const extension = extensionOf(file.name) || file.format;
  return extensionOf(name) || !extension ? name : withExtension(name, extension);
}

/** Metadata key of an upload's file name. */
export const fileNameMetadata = 'filename';

/** Returns the file name in an object's metadata. S3 returns non-ASCII names in RFC 2047 form. */
export function decodeFileName(metadata: Record<string, string>): string {
  return (metadata[fileNameMetadata] ?? '')
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_match, encoding: string, text: string) =>
      encoding.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString('utf8')
        : Buffer.from(
            text
              .replaceAll('_', ' ')
              .replace(/=([0-9a-f]{2})/gi, (_code, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
            'latin1',
          ).toString('utf8'),
    );
}
