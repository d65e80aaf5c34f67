import { gunzipSync } from 'node:zlib';
import { EngineError } from '../../runtime/engine.ts';
import { decodeXml, rewriteReferences, styleInstruction } from './defuse.ts';
import type { Inspection } from './inspection.ts';
import { MarkupGuard } from './markup-guard.ts';
import { decodeDataUri, isOpaque, isVector, rasterType } from './pictures.ts';

const maxVectorBytes = 50_000_000;
const nothing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>');

/** A transparent pixel. */
const blank = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=',
  'base64',
);

/** Removes all references from an SVG or SVGZ, except those to its own parts and to raster images as data URIs. */
export function defuseVector(bytes: Buffer, inspection: Inspection): Buffer {
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const unpacked = packed ? unpack(bytes) : bytes;
  if (!isVector(unpacked)) {
    // A metafile may be compressed as well.
    inspection.opaque ||= isOpaque(unpacked);
    return unpacked;
  }
  inspection.vectors = true;
  if (inspection.blanksVectors) return blank;
  if (!isAcceptable(unpacked)) return nothing;
  const text = decodeXml(unpacked);
  const safe = rewriteReferences(text.replaceAll(styleInstruction, ''), isInside, false)
    .replaceAll(/@import/gi, '')
    .replaceAll(/url\(\s*(?!["']?\s*#)/gi, 'url(#');
  return safe === text && !packed ? bytes : Buffer.from(safe, 'latin1');
}

function isInside(value: string): boolean {
  if (value.startsWith('#')) return true;
  const data = decodeDataUri(value);
  return data !== undefined && rasterType(data) !== undefined;
}

/** Returns whether all parsers read a picture in the same way. Others are replaced. */
function isAcceptable(bytes: Buffer): boolean {
  try {
    new MarkupGuard().write(bytes);
    return true;
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

function unpack(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxVectorBytes });
  } catch {
    return Buffer.alloc(0);
  }
}
