const longestNameBytes = 200;

/** Makes a name safe to show, to put in a header and to write into an archive, and keeps what a user would recognise of it. */
export function safeName(name: string, fallback = 'file'): string {
  const bare = name
    .toWellFormed()
    .normalize('NFC')
    .split(/[/\\]/)
    .at(-1)
    // Control characters break headers; bidi overrides disguise extensions.
    ?.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .trim()
    .replace(/^\.+|[. ]+$/g, '');
  if (!bare) return fallback;
  const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(bare) ? `_${bare}` : bare;
  return shorten(reserved);
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= longestNameBytes) return name;
  const extension = extensionOf(name);
  const tail = extension && extension.length <= 16 ? `.${extension}` : '';
  let stem = name.slice(0, name.length - tail.length);
  while (Buffer.byteLength(stem + tail) > longestNameBytes) stem = [...stem].slice(0, -1).join('');
  return stem + tail;
}

/** Returns the extension of a name in lower case without its dot, or an empty string. `tar.gz` and its kin count as one. */
export function extensionOf(name: string): string {
  const match = /\.(tar\.(?:gz|bz2|xz)|[^./\\\s]+)$/i.exec(name);
  return match && match.index > 0 ? (match[1] ?? '').toLowerCase() : '';
}

/** Returns a name with its extension replaced. */
export function withExtension(name: string, extension: string): string {
  const old = extensionOf(name);
  const stem = old ? name.slice(0, -(old.length + 1)) : name;
  return safeName(`${stem}.${extension}`);
}

/** Makes names unique, case-insensitively, by numbering the later ones before their extension. */
export function uniqueNames(names: string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let candidate = name;
    for (let number = 2; taken.has(candidate.toLowerCase()); number++) {
      const extension = extensionOf(name);
      const stem = extension ? name.slice(0, -(extension.length + 1)) : name;
      candidate = `${stem} (${number})${extension ? `.${extension}` : ''}`;
    }
    taken.add(candidate.toLowerCase());
    return candidate;
  });
}

/** Formats a Content-Disposition value for any script: RFC 6266 with the RFC 5987 form beside an ASCII fallback. */
export function contentDisposition(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return ascii === name
    ? `attachment; filename="${ascii}"`
    : `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
