import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readZip } from '../../support/zip.ts';

/** Unpacks a ZIP next to it, and returns the folder and the files by their names. */
export async function unpack(path: string): Promise<{ folder: string; files: Map<string, Buffer> }> {
  const folder = `${path}-files`;
  const files = await readZip(await readFile(path));
  for (const [name, content] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return { folder, files };
}
