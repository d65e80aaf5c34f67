import type { Sharp } from 'sharp';

const [artistTag, copyrightTag] = [0x013b, 0x8298];
const textType = 2;

/** Sets the copyright notices of a source on its derivative, and nothing else of its metadata. */
export function keepCopyright(
  image: Sharp,
  { exif, xmp }: { exif?: Buffer | undefined; xmp?: Buffer | undefined },
): void {
  const notices = exif ? exifNotices(exif) : {};
  if (Object.keys(notices).length > 0) image.withExif({ IFD0: notices });
  const rights = xmp ? xmpRights(xmp.toString()) : undefined;
  if (rights !== undefined) image.withXmp(rights);
}

/** Reads the author and the copyright from the first directory. Returns neither if it is damaged. */
function exifNotices(exif: Buffer): Record<string, string> {
  const tiff = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif;
  const notices: Record<string, string> = {};
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const long = (at: number) => (isLittle ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  try {
    const directory = long(4);
    for (let entry = directory + 2; entry < directory + 2 + short(directory) * 12; entry += 12) {
      const tag = short(entry);
      if ((tag !== artistTag && tag !== copyrightTag) || short(entry + 2) !== textType) continue;
      const length = long(entry + 4);
      const start = length > 4 ? long(entry + 8) : entry + 8;
      // Authors and editors are separated by a null character.
      const text = tiff
        .toString('utf8', start, start + length)
        .replaceAll('\0', ' ')
        .trim();
      if (text) notices[tag === artistTag ? 'Artist' : 'Copyright'] = text;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return notices;
}

const namespaces = {
  dc: 'http://purl.org/dc/elements/1.1/',
  xmpRights: 'http://ns.adobe.com/xap/1.0/rights/',
  cc: 'http://creativecommons.org/ns#',
};
const property = '(?:dc:(?:rights|contributor|creator|publisher)|(?:xmpRights|cc):[A-Za-z]+)';
const elements = new RegExp(String.raw`<(${property})(?:\s[^<>]*)?>[\s\S]*?</\1>`, 'g');
const attributes = new RegExp(String.raw`\s${property}\s*=\s*(?:"[^"<]*"|'[^'<]*')`, 'g');

/** Returns XMP with only the rights, or undefined if there are none. */
function xmpRights(xmp: string): string | undefined {
  const kept = [...xmp.matchAll(elements)].map(([text]) => text).join('');
  const withoutElements = xmp.replaceAll(elements, '');
  const keptAttributes = [...withoutElements.matchAll(attributes)].map(([text]) => text).join('');
  if (!kept && !keptAttributes) return undefined;
  const declarations = Object.entries(namespaces).map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`);
  return `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""${declarations.join('')}${keptAttributes}>${kept}</rdf:Description></rdf:RDF></x:xmpmeta>`;
}
