import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fontsNamed, undrawnEmoji } from '../office/fonts.ts';
import { readChecked, readParts, zipOf } from './containers.ts';
import { defuseParts } from './defuse-content.ts';
import { Inspection, type SafeFile } from './inspection.ts';

/**
 * Removes external references from a zipped document. LibreOffice's settings do not affect all importers, and some platforms
 * cannot block files and network for a process. Returns the same document if nothing had to be removed.
 */
export async function defusePackage(path: string, folder: string): Promise<SafeFile> {
  return defuseRead(await readParts(path), path, folder);
}

/** Checks a zipped document and removes external references from it. */
export async function checkAndDefusePackage(path: string, size: number, folder: string): Promise<SafeFile> {
  return defuseRead(await readChecked(path, size), path, folder);
}

async function defuseRead(parts: Map<string, Buffer>, path: string, folder: string): Promise<SafeFile> {
  const inspection = new Inspection();
  let changed = false;
  await inspection.settle(async () => {
    changed = (await defuseParts(parts, inspection)) || changed;
  });
  const facts = { fonts: fontsNamed(parts), undrawn: undrawnEmoji(markupOf(parts)) };
  // If SVGs may be read, LibreOffice gets exactly the parts that were searched: readers differ on damaged archives.
  if (!changed && !inspection.mayReadVectors) return { path, vectors: false, ...facts };
  const output = join(folder, 'defused');
  await writeFile(output, await zipOf(parts));
  return { path: output, vectors: inspection.mayReadVectors, ...facts };
}

const markupOf = (parts: Map<string, Buffer>) =>
  [...parts].flatMap(([name, bytes]) => (name.endsWith('.xml') ? [bytes] : []));
