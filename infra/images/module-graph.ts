import { existsSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { buildSync } from 'esbuild';

/** Everything that modules load: files by path relative to the root, and npm packages by name. */
export interface ModuleGraph {
  files: string[];
  packages: string[];
}

/** A file next to a module that the module reads, starts or imports later. */
const namedFile = /new URL\(\s*'([^']+)',\s*import\.meta\.url\s*\)/g;
/** Packages found this way are optional: the module works without them. */
const namedPackage = /createRequire\(import\.meta\.url\)\(\s*'[^']+'\s*\)/g;
const builtins = new Set(builtinModules);

/**
 * Finds everything that modules load, by imports and by `new URL('file', import.meta.url)`. Finding files in another
 * way is an error: they would be missing from copies of the graph.
 */
export function moduleGraph(root: string, entries: string[]): ModuleGraph {
  const files = new Set<string>();
  const packages = new Set<string>();
  let added = entries;
  while (added.length > 0) {
    const { inputs } = metafileOf(root, added);
    const named: string[] = [];
    for (const [file, { imports }] of Object.entries(inputs)) {
      if (files.has(file)) continue;
      files.add(file);
      for (const { path, external } of imports) if (external && !isBuiltin(path)) packages.add(packageOf(path));
      named.push(...filesNamedIn(root, file));
    }
    added = named.filter((file) => file.endsWith('.ts') && !files.has(file));
    for (const file of named) if (!file.endsWith('.ts')) files.add(file);
  }
  return { files: [...files].sort(), packages: [...packages].sort() };
}

/** Returns the npm packages that modules import, by name. */
export function packagesOf(root: string, entries: string[]): string[] {
  const imports = Object.values(metafileOf(root, entries).inputs).flatMap((input) => input.imports);
  const outside = imports.flatMap(({ path, external }) => (external && !isBuiltin(path) ? packageOf(path) : []));
  return [...new Set(outside)].sort();
}

function metafileOf(root: string, entries: string[]) {
  const { metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: 'unused',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    // As in Node, which strips types but keeps imports.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    logLevel: 'silent',
  });
  return metafile;
}

function filesNamedIn(root: string, file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  const rest = source.replaceAll(namedFile, '').replaceAll(namedPackage, '');
  if (/import\.meta\.(url|dirname|filename)/.test(rest))
    throw new Error(`${file} names a file in a way that images do not follow. Use new URL('file', import.meta.url).`);
  // A folder's path only names it. Files in it are imported or named individually.
  const paths = [...source.matchAll(namedFile)].map(([, path = '']) => path).filter((path) => !path.endsWith('/'));
  return paths.map((path) => {
    const full = join(root, dirname(file), path);
    if (!existsSync(full) || !statSync(full).isFile()) throw new Error(`${file} names ${path}, which is not a file.`);
    return relative(root, full);
  });
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtins.has(specifier);
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
