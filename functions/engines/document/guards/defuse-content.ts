import { checkAndReadParts, isMarkup, zipOf } from './containers.ts';
import { decodeXml, defuseMarkup, defuseRelations } from './defuse.ts';
import { defuseHtml } from './defuse-html.ts';
import { defuseVector } from './defuse-vector.ts';
import type { Inspection } from './inspection.ts';
import { isOpaque, isVector, rasterType } from './pictures.ts';

/**
 * Removes external references from the content of a part. Ignores its name: LibreOffice detects pictures by their content, and
 * parts of a package by references in other parts. Returns the same bytes if nothing had to be removed.
 */
export async function defuseContent(bytes: Buffer, inspection: Inspection): Promise<Buffer> {
  if (bytes.toString('latin1', 0, 4) === 'PK\x03\x04') return defuseInner(bytes, inspection);
  // Recognized by their first bytes, which exclude any other reading.
  if (rasterType(bytes) !== undefined) return bytes;
  if (isOpaque(bytes) || isRichText(bytes)) {
    inspection.opaque = true;
    return bytes;
  }
  if (isVector(bytes)) return defuseVector(bytes, inspection);
  if (!isMarkup(bytes)) return bytes;
  if (isPage(bytes)) return Buffer.from(defuseHtml(decodePage(bytes), inspection));
  const text = decodeXml(bytes);
  const safe = await defuseBinaryData(defuseMarkup(text), inspection);
  return safe === text ? bytes : Buffer.from(safe, 'latin1');
}

/** Removes external references from the parts of a document in place. Returns whether there were any. */
export async function defuseParts(parts: Map<string, Buffer>, inspection: Inspection): Promise<boolean> {
  let changed = false;
  if (parts.get('META-INF/manifest.xml')?.includes('encryption-data')) inspection.opaque = true;
  for (const [name, bytes] of parts) {
    const safe = name.toLowerCase().endsWith('.rels')
      ? defuseRelationsOf(name, bytes, parts)
      : await defuseContent(bytes, inspection);
    if (safe === bytes) continue;
    parts.set(name, safe);
    changed = true;
  }
  return changed;
}

function defuseRelationsOf(name: string, bytes: Buffer, parts: Map<string, Buffer>): Buffer {
  const source = name.replace(/_rels\/([^/]*)\.rels$/i, '$1');
  const text = decodeXml(bytes);
  const safe = defuseRelations(text, decodeXml(parts.get(source) ?? Buffer.alloc(0)));
  return safe === text ? bytes : Buffer.from(safe, 'latin1');
}

async function defuseInner(bytes: Buffer, inspection: Inspection): Promise<Buffer> {
  return inspection.inside(async () => {
    const parts = await checkAndReadParts(bytes);
    return (await defuseParts(parts, inspection)) ? zipOf(parts) : bytes;
  });
}

const isRichText = (bytes: Buffer) => /^\s*\{\\rt/.test(bytes.toString('latin1', 0, 64));

/** Returns whether bytes are HTML. A page with an XML declaration is read as XML, with the encoding of XML. */
function isPage(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 1024).replaceAll('\0', '');
  return /<(?:!DOCTYPE\s+html|html)[\s>]/i.test(start) && !/<\?xml/.test(start);
}

function decodePage(bytes: Buffer): string {
  const wide = bytes[0] === 0xff || bytes[1] === 0;
  const bigEndian = bytes[0] === 0xfe || bytes[0] === 0;
  return new TextDecoder(bigEndian ? 'utf-16be' : wide ? 'utf-16le' : 'utf-8').decode(bytes);
}

const dataElement = /<(?:[^\s<>"'/=!?:]+:)?(?:binary-data|d)(?=[\s>])(?:[^<>"']|"[^"<]*"|'[^'<]*')*>/g;

/** Removes external references from base64 pictures and objects in flat XML. */
async function defuseBinaryData(markup: string, inspection: Inspection): Promise<string> {
  let result = '';
  let at = 0;
  for (const open of markup.matchAll(dataElement)) {
    const start = open.index + open[0].length;
    if (open.index < at || open[0].endsWith('/>')) continue;
    const end = markup.indexOf('<', start);
    if (end < 0) break;
    // A comment or CDATA section would split a text that parsers read as one.
    if (markup[end + 1] !== '/') inspection.opaque = true;
    const data = markup.slice(start, end);
    const bytes = Buffer.from(data, 'base64');
    const safe = await defuseContent(bytes, inspection);
    if (safe === bytes) continue;
    result += markup.slice(at, start) + safe.toString('base64');
    at = end;
  }
  return result + markup.slice(at);
}
