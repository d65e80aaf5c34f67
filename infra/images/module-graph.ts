import { existsSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { buildSync } from 'esbuild';

/** Everything that modules load: files by their path under the root, and npm packages by name. */
export interface ModuleGraph {
  files: string[];
  packages: string[];
}

/** A file beside a module that the module reads, starts or imports later. */
const namedFile = /new URL\(\s*'([^']+)',\s*import\.meta\.url\s*\)/g;
/** Packages found this way are optional by design: the module goes on without them. */
const namedPackage = /createRequire\(import\.meta\.url\)\(\s*'[^']+'\s*\)/g;
const builtins = new Set(builtinModules);

/**
 * Finds everything that modules load, by their imports and by `new URL('file', import.meta.url)`. A module that finds
 * files in another way is an error: they would be missing where only the graph is copied to.
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
    // As Node does, which strips the types of an import and leaves the import.
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
  // The path of a folder is only for naming it: what a module needs of it, it imports or names by file.
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
