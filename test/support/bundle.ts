import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { currentBundleFolders } from '../../infra/build/bundles.ts';
import { projectRoot } from '../../infra/bundling.ts';

export interface Bundle {
  files: { name: string; code: Uint8Array }[];
  /** Size of the code loaded with the handler, without what is imported on demand. */
  bytesAtStart: number;
  /** Its sources, relative to the project, with their sizes in the bundle. */
  parts: { path: string; bytes: number }[];
}

/** Reads the bundles of functions' modules, given relative to the project, and makes missing ones. */
export async function bundle(entries: string[]): Promise<Map<string, Bundle>> {
  const folders = await currentBundleFolders(entries.map((entry) => join(projectRoot, entry)));
  const bundles = entries.map(async (entry): Promise<[string, Bundle]> => {
    const folder = folders.get(join(projectRoot, entry));
    if (!folder) throw new Error(`Expected a bundle of ${entry}.`);
    return [entry, await readBundle(folder)];
  });
  return new Map(await Promise.all(bundles));
}

/** Writes the files of a bundle into a folder. The handler is in `index.mjs`. */
export async function writeBundle(made: Bundle | undefined, folder: string): Promise<void> {
  if (!made) throw new Error('Expected a bundle.');
  await mkdir(folder, { recursive: true });
  for (const { name, code } of made.files) await writeFile(join(folder, name), code);
}

async function readBundle({ root, metafile }: { root: string; metafile: string }): Promise<Bundle> {
  const { outputs }: Metafile = JSON.parse(await readFile(metafile, 'utf8'));
  const atStart = new Set<string>();
  const add = (path: string) => {
    if (atStart.has(path)) return;
    atStart.add(path);
    for (const { path: imported, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && imported in outputs) add(imported);
  };
  add(Object.keys(outputs).find((path) => basename(path) === 'index.mjs') ?? '');
  const all = Object.values(outputs);
  return {
    files: await Promise.all(
      (await readdir(root)).map(async (name) => ({ name, code: await readFile(join(root, name)) })),
    ),
    bytesAtStart: [...atStart].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0),
    parts: all.flatMap(({ inputs }) =>
      Object.entries(inputs).map(([path, { bytesInOutput }]) => ({ path, bytes: bytesInOutput })),
    ),
  };
}

/** Adds up the parts of a bundle by package, largest first. */
export function byPackage({ parts }: Bundle): [string, number][] {
  const sums = new Map<string, number>();
  for (const { path, bytes } of parts) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? 'lathe';
    sums.set(name, (sums.get(name) ?? 0) + bytes);
  }
  return [...sums].sort(([, left], [, right]) => right - left);
}
