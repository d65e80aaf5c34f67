/** Replacement for an external reference: an address without content. */
const nowhere = 'about:blank';

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Decodes an attribute's value like a parser, so that no escape hides an address. */
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

/**
 * Matches a start tag with attributes in XML. Regular expressions are enough here, unlike for HTML: a name may have any letters
 * but these separators, a value has quotes and no angle bracket, and parsers reject anything else instead of guessing.
 * MarkupGuard has already rejected custom entities and encodings that are not based on ASCII. Comments and CDATA sections are
 * rewritten too, which does no harm.
 */
const startTag = /<(?:([^\s<>"'/=!?:]+):)?([^\s<>"'/=!?:]+)(?=\s)(?:[^<>"']|"[^"<]*"|'[^'<]*')*>/g;

/** Attributes that are loaded with the document, in OpenDocument, Office's drawings and SVG. */
const reference = /((?:href|src|image-data|archive|codebase)\s*=\s*)("[^"]*"|'[^']*')/gi;
const attributeValue = /(\s[^\s<>"'/=]+\s*=\s*)("[^"]*"|'[^']*')/g;
const mayBeLocal = /(?:file|vnd\.|smb|&#)/i;
const isLocal = (value: string) => /^(?:file|smb|vnd\.(?:sun|libreoffice)[\w.]*):/i.test(value);

/** Rewrites references that are loaded with the document. Hyperlinks stay. */
export function rewriteReferences(markup: string, isAllowed: (value: string) => boolean, clickable: boolean): string {
  return markup.replaceAll(startTag, (tag: string, _prefix: string | undefined, name: string) => {
    if (clickable && name === 'a') return tag;
    const own = tag.replaceAll(reference, (whole: string, before: string, quoted: string) =>
      isAllowed(plain(quoted.slice(1, -1))) ? whole : `${before}"${nowhere}"`,
    );
    if (!mayBeLocal.test(own)) return own;
    return own.replaceAll(attributeValue, (whole: string, before: string, quoted: string) =>
      isLocal(plain(quoted.slice(1, -1))) ? `${before}"${nowhere}"` : whole,
    );
  });
}

/** Refers to a style sheet, which a parser may load. */
export const styleInstruction = /<\?xml-stylesheet[\s\S]*?\?>/g;

/** Removes external references from the XML of a document. */
export function defuseMarkup(markup: string): string {
  return rewriteReferences(markup.replaceAll(styleInstruction, ''), (value) => !leadsOut(value), true);
}

/** Reads XML so that writing it restores every byte of an encoding based on ASCII. UTF-16 becomes UTF-8. */
export function decodeXml(bytes: Buffer): string {
  const bigEndian = (bytes[0] === 0xfe && bytes[1] === 0xff) || bytes[0] === 0;
  if (!bigEndian && bytes[0] !== 0xff && bytes[1] !== 0) return bytes.toString('latin1');
  const text = new TextDecoder(bigEndian ? 'utf-16be' : 'utf-16le').decode(bytes);
  const declared = text.replace(/^(<\?xml[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')/, '$1');
  return Buffer.from(declared).toString('latin1');
}

const attribute = (tag: string, name: string) =>
  plain(new RegExp(`\\s${name}\\s*=\\s*("[^"]*"|'[^']*')`).exec(tag)?.[1]?.slice(1, -1) ?? '');

/** Removes external relationships of an Office part, except for hyperlinks. */
export function defuseRelations(relations: string, part: string): string {
  return relations.replaceAll(/<(?:[\w.-]+:)?Relationship\s[^<>]*>/g, (tag) => {
    const target = attribute(tag, 'Target');
    if (attribute(tag, 'TargetMode') !== 'External' && !leadsAway(target)) return tag;
    const isLink = attribute(tag, 'Type').endsWith('/hyperlink') && /^(?:https?|mailto):|^#/i.test(target);
    if (isLink && !isLoaded(attribute(tag, 'Id'), part)) return tag;
    return tag.replace(/(\sTarget\s*=\s*)("[^"]*"|'[^']*')/, `$1"${nowhere}"`);
  });
}

/** Returns whether anything but a hyperlink uses a relationship. An image could use one of type hyperlink. */
function isLoaded(id: string, part: string): boolean {
  for (const [tag, , name = ''] of part.matchAll(startTag)) {
    if (/^(?:hyperlink|hlink(?:Click|Hover|MouseOver))$/i.test(name)) continue;
    for (const [, value = ''] of tag.matchAll(/\s[\w.-]+:[\w.-]+\s*=\s*("[^"]*"|'[^']*')/g))
      if (plain(value.slice(1, -1)) === id) return true;
  }
  return false;
}
