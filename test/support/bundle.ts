import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build, type Metafile, type OutputFile } from 'esbuild';
import { bundlingOf } from '../../infra/bundling.ts';

export interface Bundle {
  files: { name: string; code: Uint8Array }[];
  /** The size of what is loaded with the handler: all but what is imported on demand. */
  bytesAtStart: number;
  /** Paths from the project's root of what went into it, with how much of it is in the bundle. */
  parts: { path: string; bytes: number }[];
}

/** Bundles functions' modules as the stack does. */
export async function bundle(entries: string[]): Promise<Map<string, Bundle>> {
  const bundles = entries.map(async (entry): Promise<[string, Bundle]> => {
    const { outputFiles, metafile } = await build({
      ...bundlingOf(entry),
      outdir: 'bundle',
      metafile: true,
      write: false,
      logLevel: 'silent',
    });
    return [entry, bundleOf(outputFiles, metafile)];
  });
  return new Map(await Promise.all(bundles));
}

/** Writes the files of a bundle into a folder, where `index.mjs` is the handler's. */
export async function writeBundle(made: Bundle | undefined, folder: string): Promise<void> {
  if (!made) throw new Error('Expected a bundle.');
  await mkdir(folder, { recursive: true });
  for (const { name, code } of made.files) await writeFile(join(folder, name), code);
}

function bundleOf(outputFiles: OutputFile[], { outputs }: Metafile): Bundle {
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
    files: outputFiles.map(({ path, contents }) => ({ name: basename(path), code: contents })),
    bytesAtStart: [...atStart].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0),
    parts: all.flatMap(({ inputs }) =>
      Object.entries(inputs).map(([path, { bytesInOutput }]) => ({ path, bytes: bytesInOutput })),
    ),
  };
}

/** Adds up the parts of a bundle by package, the largest first. */
export function byPackage({ parts }: Bundle): [string, number][] {
  const sums = new Map<string, number>();
  for (const { path, bytes } of parts) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? 'lathe';
    sums.set(name, (sums.get(name) ?? 0) + bytes);
  }
  return [...sums].sort(([, left], [, right]) => right - left);
}
