import { gunzipSync } from 'node:zlib';

/** Replacement for an external reference: an address at which there is nothing. */
const nowhere = 'about:blank';
const maxVectorBytes = 50_000_000;

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Decodes an attribute's value as a parser does, so that no escape hides an address. */
function plain(value: string): string {
  return value
    .replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
      if (name !== undefined) return named[name] ?? whole;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : '';
    })
    .replaceAll(/[\s\p{Cc}]/gu, '');
}

const leadsAway = (value: string) => /^[a-z][a-z\d+.-]*:|^[\\/]{2}/i.test(value);
const leadsOut = (value: string) => leadsAway(value) || /^[\\/]|(^|[\\/])\.\.([\\/]|$)/.test(value);

const startTag = /<([\w.-]+:)?([\w.-]+)(?=\s)(?:[^<>"']|"[^"<]*"|'[^'<]*')*>/g;
const reference = /((?:[\w.-]+:)?(?:href|src)\s*=\s*)("[^"]*"|'[^']*')/gi;

/** Rewrites references that are loaded with the document; links that a reader clicks stay. */
function rewrite(markup: string, isAllowed: (value: string) => boolean, clickable: boolean): string {
  return markup.replaceAll(startTag, (tag: string, _prefix: string | undefined, name: string) => {
    if (clickable && name === 'a') return tag;
    return tag.replaceAll(reference, (whole: string, before: string, quoted: string) =>
      isAllowed(plain(quoted.slice(1, -1))) ? whole : `${before}"${nowhere}"`,
    );
  });
}

const styleInstruction = /<\?xml-stylesheet[\s\S]*?\?>/g;

/** Removes external references from the XML of a document. */
export function defuseMarkup(markup: string): string {
  const own = rewrite(markup.replaceAll(styleInstruction, ''), (value) => !leadsOut(value), true);
  return own.replaceAll(
    /(<(?:[\w.-]+:)?binary-data\b[^>]*>)([^<]*)(<)/g,
    (whole: string, open: string, data: string, close: string) => {
      const picture = Buffer.from(data, 'base64');
      const safe = isVector(picture) ? defuseVector(picture) : picture;
      return safe === picture ? whole : `${open}${safe.toString('base64')}${close}`;
    },
  );
}

/** Returns whether bytes are a vector image, which can reference others. */
export function isVector(bytes: Buffer): boolean {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return true;
  const start = bytes.subarray(0, 4096).toString('latin1').replaceAll('\0', '');
  return /<(?:[\w.-]+:)?svg[\s>]|<!DOCTYPE\s+svg/i.test(start);
}

/** Removes external references from a vector image. */
export function defuseVector(bytes: Buffer): Buffer {
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = decodeXml(packed ? unpack(bytes) : bytes);
  const inside = (value: string) => value.startsWith('#') || /^data:image\/(?:png|jpe?g|gif|webp)[;,]/i.test(value);
  const safe = rewrite(text.replaceAll(styleInstruction, ''), inside, false)
    .replaceAll(/@import/gi, '')
    .replaceAll(/url\(\s*(?!["']?\s*#)/gi, 'url(#');
  return safe === text && !packed ? bytes : Buffer.from(safe, 'latin1');
}

function unpack(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxVectorBytes });
  } catch {
    return Buffer.alloc(0);
  }
}

/** Reads XML so that every byte of an encoding with ASCII in it comes out again as it was; two-byte letters become UTF-8. */
export function decodeXml(bytes: Buffer): string {
  const bigEndian = (bytes[0] === 0xfe && bytes[1] === 0xff) || bytes[0] === 0;
  if (!bigEndian && bytes[0] !== 0xff && bytes[1] !== 0) return bytes.toString('latin1');
  const text = new TextDecoder(bigEndian ? 'utf-16be' : 'utf-16le').decode(bytes);
  const declared = text.replace(/^(<\?xml[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')/, '$1');
  return Buffer.from(declared).toString('latin1');
}

const attribute = (tag: string, name: string) =>
  plain(new RegExp(`\\s${name}\\s*=\\s*("[^"]*"|'[^']*')`).exec(tag)?.[1]?.slice(1, -1) ?? '');

/** Removes external relationships of an Office part, except for links that a reader clicks. */
export function defuseRelations(relations: string, part: string): string {
  return relations.replaceAll(/<(?:[\w.-]+:)?Relationship\s[^<>]*>/g, (tag) => {
    const target = attribute(tag, 'Target');
    if (attribute(tag, 'TargetMode') !== 'External' && !leadsAway(target)) return tag;
    const isLink = attribute(tag, 'Type').endsWith('/hyperlink') && /^(?:https?|mailto):|^#/i.test(target);
    if (isLink && !isLoaded(attribute(tag, 'Id'), part)) return tag;
    return tag.replace(/(\sTarget\s*=\s*)("[^"]*"|'[^']*')/, `$1"${nowhere}"`);
  });
}

/** Returns whether anything but a link uses a relationship: an image could use one of type link. */
function isLoaded(id: string, part: string): boolean {
  for (const [tag, , name = ''] of part.matchAll(startTag)) {
    if (/^(?:hyperlink|hlink(?:Click|Hover|MouseOver))$/i.test(name)) continue;
    for (const [, value = ''] of tag.matchAll(/\s[\w.-]+:[\w.-]+\s*=\s*("[^"]*"|'[^']*')/g))
      if (plain(value.slice(1, -1)) === id) return true;
  }
  return false;
}
