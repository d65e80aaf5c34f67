import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { FunctionCode, LocalFunction } from '../../packages/local-aws/src/template/model.ts';
import { bundleSources, bundlingOf, projectRoot } from '../bundling.ts';
import { fingerprint } from '../fingerprint.ts';
import { markAsUsed, publish, removeOld } from './kept-folders.ts';

/** A bundle on this machine. */
interface BundleFolder {
  /** Holds the files of the function and nothing else. */
  root: string;
  /** What esbuild says about its content. */
  metafile: string;
}

/**
 * Returns what finds the bundle of a zip function, made as for a deployment. One that is missing is made when it is first
 * asked for, from the sources as they are then: most functions are not called between two changes of the sources.
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
    // What could not be bundled may be repaired before the next call.
    root.catch(() => roots.delete(fn.entry));
    return { root: await root, handler: `index.${fn.handler}` };
  };
}

async function currentBundleOf(entry: string): Promise<BundleFolder> {
  const made = (await currentBundleFolders([entry])).get(entry);
  if (!made) throw new Error(`Expected a bundle of ${entry}.`);
  return made;
}

/**
 * Returns the bundle of each module, made anew only when something it is made of has changed. Each is a folder that
 * appears whole, so that several services may start at once.
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
  removeOld(cache);
  const draft = mkdtempSync(join(cache, 'draft-'));
  // Only now, because most starts find their bundles.
  const esbuild = await import('esbuild');
  builds += 1;
  try {
    const draftOf = (index: number) => join(draft, String(index));
    await Promise.all(
      entries.map(async (entry, index) => {
        const { root, metafile } = filesOf(draftOf(index));
        const made = await esbuild.build({ ...bundlingOf(entry), outdir: root });
        writeFileSync(metafile, JSON.stringify(made.metafile));
      }),
    );
    for (const [index, entry] of entries.entries()) publish(draftOf(index), folders.get(entry) ?? '');
  } finally {
    builds -= 1;
    // Its process would stay for as long as this one.
    if (builds === 0) await esbuild.stop();
    rmSync(draft, { recursive: true, force: true });
  }
}

function nameOf(state: string, entry: string): string {
  const hash = createHash('sha256').update(state);
  // A module of the tests is not among the sources.
  hash.update(relative(projectRoot, entry)).update(readFileSync(entry));
  const name = relative(projectRoot, entry)
    .replace(/\.[a-z]+$/, '')
    .replaceAll('/', '-')
    .replace(/^[.-]+/, '');
  return `${name}-${hash.digest('hex').slice(0, 32)}`;
}

/**
 * Returns the folder of all bundles: outside of the project, so that a package that is missing in a bundle is missing
 * here as well, and always the same, because Node keeps compiled modules by their path.
 */
export function cacheFolder(): string {
  // Not by userInfo(), which fails for a user without an entry in passwd, as in containers.
  const uid = process.getuid?.() ?? -1;
  const folder = join(tmpdir(), `lathe-bundles-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  // In a folder that everybody may write to, somebody else may have made it.
  if (!found.isDirectory() || (uid >= 0 && found.uid !== uid)) {
    throw new Error(`Expected ${folder} to be a folder of this user. Remove it and start again.`);
  }
  return folder;
}
