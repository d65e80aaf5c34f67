/** An element: its name, and its text or its children. */
export type XmlElement = readonly [string, string | number | readonly XmlElement[]];

/** Writes an S3 answer as XML. */
export function xmlDocument(root: string, children: readonly XmlElement[]): string {
  const body = children.map(write).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${body}</${root}>`;
}

/** Finds the contents of every element of the name in a request of S3, whose elements do not nest in their like. */
export function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>(.*?)</${name}>`, 'gs'))].map((match) => match[1] ?? '');
}

/** Finds the contents of the first element of the name. */
export function element(xml: string, name: string): string | undefined {
  return elements(xml, name)[0];
}

/** Decodes the entities of XML text. */
export function decodeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (hex || decimal) {
      const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    }
    return ENTITIES.get(name) ?? whole;
  });
}

const ENTITIES = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

function write([name, content]: XmlElement): string {
  const inner = Array.isArray(content) ? content.map(write).join('') : escapeXml(String(content));
  return `<${name}>${inner}</${name}>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;');
}
