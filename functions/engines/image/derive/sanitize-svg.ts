import { EngineError } from '../../runtime/engine.ts';

/** Elements that run scripts, load documents or send data. */
const unsafeElements = new Set(['script', 'iframe', 'form', 'object', 'embed', 'handler', 'listener']);
const animations = new Set(['animate', 'set', 'animatetransform', 'animatemotion']);

const token =
  /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<!DOCTYPE\b[^[\]>]*(?:\[[^\]]*\])?[^[\]>]*>|<[^!?](?:"[^"]*"|'[^']*'|[^"'<>])*>|[^<]+/gy;
const tag = /^<(\/?)([^\s/<>"'=]+)((?:\s+[^\s/<>"'=]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>$/;
const attribute = /\s+([^\s/<>"'=]+)\s*=\s*("[^"<]*"|'[^'<]*')/g;

/**
 * Removes what a drawing could run, load or send when a browser opens it as a page. Comments, instructions and the document
 * type are removed too, because style sheets and entities can hide there. Rejects what is not well-formed: browsers might
 * read it in another way.
 */
export function sanitizeSvg(file: Buffer): Buffer {
  const text = decode(file);
  let result = '';
  let end = 0;
  // Open elements, outermost first. The flag tells whether the element is removed.
  const open: { name: string; isRemoved: boolean }[] = [];
  for (const [part] of text.matchAll(token)) {
    end += part.length;
    const isRemoved = open.at(-1)?.isRemoved === true;
    if (part.startsWith('<!--') || part.startsWith('<?') || part.startsWith('<!DOCTYPE')) continue;
    if (!part.startsWith('<') || part.startsWith('<![CDATA[')) {
      if (!isRemoved) result += part;
      continue;
    }
    const [, closes, name = '', attributes = '', isEmpty] = tag.exec(part) ?? [];
    if (!name || (closes && (attributes || isEmpty))) throw malformed();
    if (closes) {
      if (open.pop()?.name !== name) throw malformed();
      if (!isRemoved) result += `</${name}>`;
      continue;
    }
    const isUnsafe = isRemoved || unsafeElements.has(localName(name)) || animatesUnsafely(name, attributes);
    if (!isUnsafe) result += `<${name}${safeAttributes(name, attributes)}${isEmpty ? '/' : ''}>`;
    if (!isEmpty) open.push({ name, isRemoved: isUnsafe });
  }
  if (end !== text.length || open.length > 0) throw malformed();
  return Buffer.from(result);
}

function malformed(): EngineError {
  return new EngineError(
    'The drawing is not well-formed XML, so it cannot be returned safely. Ask for png or webp instead.',
  );
}

/** Decodes a file in its declared encoding. The result is UTF-8, so the declaration is removed with the other instructions. */
function decode(file: Buffer): string {
  const start = file.subarray(0, 200).toString('latin1').replaceAll('\0', '');
  const declared = /<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(start)?.[1];
  const isWide = file[0] === 0xff || file[0] === 0xfe;
  const encoding = isWide ? (file[0] === 0xff ? 'utf-16le' : 'utf-16be') : (declared ?? 'utf-8');
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(file);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw malformed();
    throw error;
  }
}

function localName(name: string): string {
  return (name.split(':').at(-1) ?? '').toLowerCase();
}

/** An animation can change a link or an event handler after the drawing was checked. */
function animatesUnsafely(name: string, attributes: string): boolean {
  if (!animations.has(localName(name))) return false;
  const target = localName(/\sattributeName\s*=\s*["']\s*([^"'\s]*)/i.exec(attributes)?.[1] ?? '');
  return target === 'href' || target.startsWith('on') || target.includes('&');
}

function safeAttributes(element: string, attributes: string): string {
  return [...attributes.matchAll(attribute)]
    .filter(([, name = '', quoted = '']) => isSafe(localName(element), localName(name), quoted.slice(1, -1)))
    .map(([text]) => text)
    .join('');
}

function isSafe(element: string, name: string, value: string): boolean {
  if (name.startsWith('on')) return false;
  if (!['href', 'src', 'action', 'formaction', 'base'].includes(name)) return true;
  // Browsers ignore white space and control characters in a scheme.
  const link = unescaped(value).replace(/[\p{Cc}\s]/gu, '');
  if (element === 'use') return link === '' || link.startsWith('#');
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(link)?.[1]?.toLowerCase();
  if (scheme === undefined || scheme === 'http' || scheme === 'https') return true;
  return ['image', 'feimage'].includes(element) && /^data:image\/(?:png|jpe?g|gif|webp|avif)[;,]/i.test(link);
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (_, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return entities[name] ?? '';
    const code = Number.parseInt(hex ?? decimal ?? '', hex === undefined ? 10 : 16);
    return code > 0 && code < 0x11_0000 ? String.fromCodePoint(code) : '';
  });
}
