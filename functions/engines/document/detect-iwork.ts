import { constants, inflateRawSync } from 'node:zlib';

interface Part {
  name: string;
  /** Its first bytes, unpacked. */
  start: Buffer;
}

/** Root elements of the XML that iWork wrote until 2009. */
const roots: [element: string, format: string][] = [
  ['<sl:document', 'pages'],
  ['<ls:document', 'numbers'],
  ['<key:presentation', 'key'],
];

/** The type of the first message in Document.iwa of Pages. The other apps share the number 1. */
const pagesMessage = Buffer.from([0x08, 0x90, 0x4e]);

/**
 * Detects the documents of Apple's iWork by the parts of their package. Returns undefined if the distinctive part is beyond the
 * given bytes. Then the name decides.
 */
export function detectIwork(start: Buffer, name: string): string | undefined {
  const parts = partsOf(start);
  for (const part of parts) {
    if (/(^|\/)index\.apxl(\.gz)?$/.test(part.name)) return 'key';
    if (!/(^|\/)index\.xml$/.test(part.name)) continue;
    const text = part.start.toString('latin1');
    return roots.find(([element]) => text.includes(element))?.[1];
  }
  const document = parts.find((part) => /(^|\/)Index\/Document\.iwa$/.test(part.name));
  if (!document) return undefined;
  if (document.start.subarray(0, 40).includes(pagesMessage)) return 'pages';
  const slides = parts.some((part) => /(^|\/)Index\/(?:Master|Template)?Slide[^/]*\.iwa$/.test(part.name));
  return slides || name.toLowerCase().endsWith('.key') ? 'key' : 'numbers';
}

const localHeader = Buffer.from('PK\x03\x04', 'latin1');
const headerBytes = 30;

/** Lists the parts of a zip with local headers within the bytes. The directory at its end is not available. */
function partsOf(start: Buffer): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at >= 0; at = start.indexOf(localHeader, at + 4)) {
    if (at + headerBytes > start.length) break;
    const body = at + headerBytes + start.readUInt16LE(at + 26) + start.readUInt16LE(at + 28);
    const name = start.toString('latin1', at + headerBytes, at + headerBytes + start.readUInt16LE(at + 26));
    const packed = start.subarray(body, body + 4096);
    parts.push({ name, start: start.readUInt16LE(at + 8) === 8 ? inflateStart(packed) : packed });
  }
  return parts;
}

function inflateStart(packed: Buffer): Buffer {
  try {
    return inflateRawSync(packed, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 1_000_000 });
  } catch {
    return Buffer.alloc(0);
  }
}
