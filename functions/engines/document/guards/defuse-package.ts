import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { readParts } from './containers.ts';
import { decodeXml, defuseMarkup, defuseRelations, defuseVector, isVector } from './defuse.ts';

/**
 * Removes external references from a zipped document. LibreOffice's settings do not stop every importer, and
 * not every platform can block files and network for a process. Returns the path of the document itself if nothing
 * had to be removed.
 */
export async function defusePackage(path: string, folder: string): Promise<string> {
  const parts = await readParts(path);
  let changed = false;
  for (const [name, bytes] of parts) {
    const safe = defusePart(name, bytes, parts);
    if (safe.equals(bytes)) continue;
    parts.set(name, safe);
    changed = true;
  }
  if (!changed) return path;
  const output = join(folder, 'defused');
  const zip = new ZipFile();
  for (const [name, bytes] of parts) zip.addBuffer(bytes, name, { compress: name !== 'mimetype' });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(output));
  return output;
}

function defusePart(name: string, bytes: Buffer, parts: Map<string, Buffer>): Buffer {
  if (isVector(bytes)) return defuseVector(bytes);
  if (!/\.(?:xml|rels|vml|rdf|xhtml|html?)$/i.test(name)) return bytes;
  const text = decodeXml(bytes);
  if (!name.toLowerCase().endsWith('.rels')) return back(text, defuseMarkup(text), bytes);
  const source = name.replace(/_rels\/([^/]*)\.rels$/i, '$1');
  return back(text, defuseRelations(text, decodeXml(parts.get(source) ?? Buffer.alloc(0))), bytes);
}

function back(text: string, safe: string, bytes: Buffer): Buffer {
  return safe === text ? bytes : Buffer.from(safe, 'latin1');
}
