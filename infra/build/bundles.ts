import { createHash } from 'node:crypto';
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { FunctionCode, LocalFunction } from '../../packages/local-aws/src/template/model.ts';
import { bundleSources, bundlingOf, projectRoot } from '../bundling.ts';
import { fingerprint } from '../fingerprint.ts';
import { markAsUsed, publish, withDraft } from './kept-folders.ts';

/** A bundle on this machine. */
interface BundleFolder {
  /** Holds the files of the function and nothing else. */
  root: string;
  /** The esbuild metafile of the bundle. */
  metafile: string;
}

/**
 * Returns a function that finds the bundle of a zip function, made as for a deployment. A missing bundle is made on
 * first use from the current sources: most functions are not called between two source changes.
 */
export function bundlesOnDemand(): (fn: LocalFunction) => Promise<FunctionCode | undefined> {
  const cache = cacheFolder();
  const state = fingerprint(bundleSources);
  const roots = new Map<string, Promise<string>>();
  const rootOf = async (entry: string): Promise<string> => {
    const kept = join(cache, nameOf(state, entry));
    if (!existsSync(kept)) return (await currentBundleOf(entry)).root;
    markAsUsed(kept);
    return filesOf(kept).root;
  };
  return async (fn) => {
    if (fn.packaging !== 'zip') return undefined;
    const root = roots.get(fn.entry) ?? rootOf(fn.entry);
    roots.set(fn.entry, root);
    // The source may be repaired before the next call.
    root.catch(() => roots.delete(fn.entry));
    return { root: await root, handler: `index.${fn.handler}` };
  };
}

/** Returns a function that finds the bundles in a folder that `copyBundles()` has filled. */
export function bundlesIn(folder: string): (fn: LocalFunction) => Promise<FunctionCode | undefined> {
  return async (fn) =>
    fn.packaging === 'zip' ? { root: join(folder, plainNameOf(fn.entry)), handler: `index.${fn.handler}` } : undefined;
}

/** Copies the current bundles of modules into a folder, named by their modules alone. */
export async function copyBundles(modules: string[], folder: string): Promise<void> {
  for (const [entry, { root }] of await currentBundleFolders(modules))
    cpSync(root, join(folder, plainNameOf(entry)), { recursive: true });
}

async function currentBundleOf(entry: string): Promise<BundleFolder> {
  const made = (await currentBundleFolders([entry])).get(entry);
  if (!made) throw new Error(`Expected a bundle of ${entry}.`);
  return made;
}

/**
 * Returns the bundle of each module, rebuilt only if its sources have changed. Each folder appears atomically, so that
 * several services may start at the same time.
 */
export async function currentBundleFolders(modules: string[]): Promise<Map<string, BundleFolder>> {
  const entries = [...new Set(modules)];
  const cache = cacheFolder();
  const state = fingerprint(bundleSources);
  const folders = new Map(entries.map((entry) => [entry, join(cache, nameOf(state, entry))]));
  const missing = entries.filter((entry) => !existsSync(folders.get(entry) ?? ''));
  if (missing.length > 0) await bundle(missing, folders, cache);
  for (const folder of folders.values()) markAsUsed(folder);
  return new Map([...folders].map(([entry, folder]) => [entry, filesOf(folder)]));
}

function filesOf(folder: string): BundleFolder {
  return { root: join(folder, 'code'), metafile: join(folder, 'metafile.json') };
}

let builds = 0;

async function bundle(entries: string[], folders: Map<string, string>, cache: string): Promise<void> {
  // Loaded on demand: most starts find their bundles.
  const esbuild = await import('esbuild');
  builds += 1;
  try {
    await withDraft(cache, async (draft) => {
      const draftOf = (index: number) => join(draft, String(index));
      await Promise.all(
        entries.map(async (entry, index) => {
          const { root, metafile } = filesOf(draftOf(index));
          const made = await esbuild.build({ ...bundlingOf(entry), outdir: root });
          writeFileSync(metafile, JSON.stringify(made.metafile));
        }),
      );
      for (const [index, entry] of entries.entries()) publish(draftOf(index), folders.get(entry) ?? '');
    });
  } finally {
    builds -= 1;
    // Otherwise its process would live as long as this one.
    if (builds === 0) await esbuild.stop();
  }
}

function nameOf(state: string, entry: string): string {
  const hash = createHash('sha256').update(state);
  // Modules of tests are not among the sources.
  hash.update(relative(projectRoot, entry)).update(readFileSync(entry));
  return `${plainNameOf(entry)}-${hash.digest('hex').slice(0, 32)}`;
}

function plainNameOf(entry: string): string {
  return relative(projectRoot, entry)
    .replace(/\.[a-z]+$/, '')
    .replaceAll('/', '-')
    .replace(/^[.-]+/, '');
}

/**
 * Returns the folder of all bundles. It is outside the project, so that a package missing from a bundle is missing here
 * too. Its path is constant, because Node caches compiled modules by path.
 */
export function cacheFolder(): string {
  // Not userInfo(), which fails for users without a passwd entry, as in containers.
  const uid = process.getuid?.() ?? -1;
  const folder = join(tmpdir(), `lathe-bundles-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  // Another user may have created it in a world-writable folder.
  if (!found.isDirectory() || (uid >= 0 && found.uid !== uid)) {
    throw new Error(`Expected ${folder} to be a folder of this user. Remove it and try again.`);
  }
  return folder;
}
