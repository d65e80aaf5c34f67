/** The content of an element: text, or children by name. A list repeats its element, undefined omits it. */
export type XmlContent =
  | string
  | number
  | boolean
  | { readonly [name: string]: XmlContent | readonly XmlContent[] | undefined };

/** A parsed element; `text` is its content if it has no children. */
export interface XmlNode {
  name: string;
  text: string;
  children: XmlNode[];
}

/** Formats an S3 response as XML. */
export function xmlDocument(
  root: string,
  content: XmlContent,
  namespace = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"',
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${namespace}>${writeContent(content)}</${root}>`;
}

/** Parses XML without comments, CDATA and DTD, which no S3 request needs; returns undefined if it is malformed. */
export function parseXml(xml: string): XmlNode | undefined {
  const document: XmlNode = { name: '', text: '', children: [] };
  const open = [document];
  const source = xml.replace(/^\ufeff?<\?xml\s[^<>]*\?>/, '');
  token.lastIndex = 0;
  while (token.lastIndex < source.length) {
    const match = token.exec(source);
    const parent = open.at(-1);
    if (!match || !parent) return undefined;
    const [, text, closed, opened, slash] = match;
    if (text !== undefined) {
      const decoded = decodeXml(text);
      if (decoded === undefined) return undefined;
      parent.text += decoded;
    } else if (opened !== undefined) {
      const node = { name: opened, text: '', children: [] };
      parent.children.push(node);
      if (slash === '') open.push(node);
    } else if (open.pop()?.name !== closed) return undefined;
  }
  const [root] = document.children;
  return open.length === 1 && document.children.length === 1 && document.text.trim() === '' ? root : undefined;
}

/** Returns the children with a name. */
export function childrenOf(node: XmlNode, name: string): XmlNode[] {
  return node.children.filter((child) => child.name === name);
}

/** Returns the text of the only child with a name, or undefined if there is not exactly one. */
export function childText(node: XmlNode, name: string): string | undefined {
  const [child, ...others] = childrenOf(node, name);
  return others.length === 0 ? child?.text : undefined;
}

const token = /([^<]+)|<\/([\w:.-]+)\s*>|<([\w:.-]+)(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(\/?)>/y;

const entities = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
]);

function decodeXml(text: string): string | undefined {
  let isWellFormed = true;
  const decoded = text.replace(/&(?:#x([0-9a-f]+);|#(\d+);|\w+;)?/gi, (entity, hex, decimal) => {
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal ?? Number.NaN);
    const character = code <= 0x10ffff ? String.fromCodePoint(code) : entities.get(entity);
    if (character === undefined) isWellFormed = false;
    return character ?? '';
  });
  return isWellFormed ? decoded : undefined;
}

function writeContent(content: XmlContent): string {
  if (typeof content !== 'object') return escapeXml(String(content));
  return Object.entries(content)
    .flatMap(([name, inner = []]) => [inner].flat().map((each) => `<${name}>${writeContent(each)}</${name}>`))
    .join('');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;');
}
