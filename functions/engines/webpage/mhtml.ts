/** One part of an MHTML file, which is a MIME message. */
export interface MhtmlPart {
  contentType: string;
  /** The address it was loaded from; `cid:` and its identifier for frames. */
  location: string;
  contentId: string;
  body: Buffer;
}

/** Splits an MHTML file into its parts; the first is the page itself. */
export function parseMhtml(text: string): MhtmlPart[] {
  const [, boundary] = /boundary="([^"]+)"/.exec(text) ?? [];
  if (boundary === undefined) throw new Error('The snapshot has no parts.');
  return text
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const split = part.indexOf('\r\n\r\n');
      const headers = part.slice(0, split);
      const header = (name: string) =>
        new RegExp(`^${name}: *(.*(?:\\r\\n[ \\t].*)*)$`, 'im').exec(headers)?.[1]?.replace(/\r\n[ \t]/g, '') ?? '';
      const body = part.slice(split + 4).replace(/\r\n$/, '');
      return {
        contentType: header('Content-Type'),
        location: header('Content-Location'),
        contentId: header('Content-ID').replace(/^<|>$/g, ''),
        body: decode(body, header('Content-Transfer-Encoding')),
      };
    });
}

function decode(body: string, encoding: string): Buffer {
  switch (encoding.toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64');
    case 'quoted-printable':
      return Buffer.from(
        body
          .replace(/=\r\n/g, '')
          .replace(/=([0-9A-F]{2})/gi, (_match, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
        'latin1',
      );
    default:
      return Buffer.from(body, 'latin1');
  }
}

/** Elements with the attributes that a page loads resources from. Excludes hyperlinks. */
const loadingAttributes: Record<string, string[]> = {
  audio: ['src'],
  body: ['background'],
  embed: ['src'],
  feimage: ['href', 'xlink:href'],
  frame: ['src'],
  iframe: ['src'],
  image: ['href', 'xlink:href'],
  img: ['src', 'srcset'],
  input: ['src'],
  link: ['href'],
  object: ['data'],
  source: ['src', 'srcset'],
  table: ['background'],
  td: ['background'],
  use: ['href', 'xlink:href'],
  video: ['src', 'poster'],
};

/** Writes the parts of an MHTML file as one self-contained HTML file. `more` holds resources that the snapshot omits. */
export function mhtmlToHtml(parts: MhtmlPart[], more: MhtmlPart[] = []): string {
  const [root] = parts;
  if (!root) throw new Error('The snapshot has no page.');
  const byAddress = new Map<string, MhtmlPart>();
  for (const part of [...more, ...parts.slice(1)]) {
    if (part.location) byAddress.set(part.location, part);
    if (part.contentId) byAddress.set(`cid:${part.contentId}`, part);
  }
  const inliner = new Inliner(byAddress);
  return inliner.html(root.body.toString('utf8'), root.location);
}

class Inliner {
  readonly #parts: Map<string, MhtmlPart>;
  readonly #urls = new Map<string, string>();
  /** Parts that are being written, to stop at a style sheet that imports itself. */
  readonly #open = new Set<string>();

  constructor(parts: Map<string, MhtmlPart>) {
    this.#parts = parts;
  }

  html(text: string, base: string): string {
    const withStyles = text
      .replace(
        /(<style\b[^>]*>)([\s\S]*?)(<\/style>)/gi,
        (_match, start: string, css: string, end: string) => `${start}${this.css(css, base)}${end}`,
      )
      // Chromium writes open shadow trees with a proprietary attribute, which it does not read.
      .replace(/<template shadowmode=/gi, '<template shadowrootmode=')
      .replace(/<(?:meta)\s[^>]*http-equiv="?(?:content-security-policy|refresh|content-type)[^>]*>/gi, '');
    const inlined = withStyles.replace(
      /<([a-z]+)((?:\s+[^\s=">/]+(?:="[^"]*")?)+)(\s*\/?>)/gi,
      (_tag: string, name: string, attributes: string, end: string) =>
        `<${name}${this.#attributes(name.toLowerCase(), attributes, base)}${end}`,
    );
    return /<head\b[^>]*>/i.test(inlined)
      ? inlined.replace(/<head\b[^>]*>/i, (head) => `${head}<meta charset="utf-8">`)
      : `<meta charset="utf-8">${inlined}`;
  }

  css(text: string, base: string): string {
    const inlined = text.replace(
      /url\(\s*(?:"([^"]*)"|'([^']*)'|([^)\s"']*))\s*\)/gi,
      (match: string, double?: string, single?: string, bare?: string) => {
        const url = this.#dataUrl(double ?? single ?? bare ?? '', base);
        return url === undefined ? match : `url("${url}")`;
      },
    );
    return inlined.replace(/@import\s+(?:"([^"]*)"|'([^']*)')/gi, (match: string, double?: string, single?: string) => {
      const url = this.#dataUrl(double ?? single ?? '', base);
      return url === undefined ? match : `@import url("${url}")`;
    });
  }

  #attributes(element: string, attributes: string, base: string): string {
    const loading = loadingAttributes[element] ?? [];
    return attributes.replace(
      /(\s+)([^\s=">/]+)="([^"]*)"/g,
      (match: string, space: string, name: string, value: string) => {
        const lower = name.toLowerCase();
        if (lower === 'style' && /url\(/i.test(value))
          return `${space}${name}="${encodeAttribute(this.css(decodeAttribute(value), base))}"`;
        if (!loading.includes(lower)) return match;
        if (lower === 'srcset') return this.#srcset(space, value, base);
        const [address = '', fragment] = decodeAttribute(value).split('#');
        const url = this.#dataUrl(address, base);
        if (url === undefined) return match;
        return `${space}${name}="${encodeAttribute(fragment === undefined ? url : `${url}#${fragment}`)}"`;
      },
    );
  }

  /** Keeps the candidate that the browser loaded; without one, `src` is used. */
  #srcset(space: string, value: string, base: string): string {
    const addresses = decodeAttribute(value).split(/,\s+|\s+/);
    const url = addresses.map((address) => this.#dataUrl(address, base)).find((found) => found !== undefined);
    return url === undefined ? '' : `${space}srcset="${encodeAttribute(url)}"`;
  }

  #dataUrl(address: string, base: string): string | undefined {
    const absolute = address.startsWith('cid:')
      ? address
      : URL.canParse(address, base)
        ? new URL(address, base).href
        : '';
    const part = this.#parts.get(absolute) ?? this.#parts.get(address);
    if (!part || address === '') return undefined;
    const known = this.#urls.get(absolute);
    if (known !== undefined || this.#open.has(absolute)) return known;
    this.#open.add(absolute);
    const { contentType } = part;
    const url = `data:${contentType.replace(/;.*/, '')}${isText(contentType) ? ';charset=utf-8' : ''};base64,${this.#body(part, base).toString('base64')}`;
    this.#open.delete(absolute);
    this.#urls.set(absolute, url);
    return url;
  }

  #body({ contentType, body, location }: MhtmlPart, parent: string): Buffer {
    // Inline content has no address, so it is relative to that of the page.
    const base = location.startsWith('cid:') || location === '' ? parent : location;
    if (contentType.startsWith('text/css')) return Buffer.from(this.css(body.toString('utf8'), base));
    if (contentType.startsWith('text/html')) return Buffer.from(this.html(body.toString('utf8'), base));
    return body;
  }
}

function isText(contentType: string): boolean {
  return contentType.startsWith('text/');
}

function decodeAttribute(value: string): string {
  return value
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&');
}

function encodeAttribute(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
}
