import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import { type CompactTables, compactTables } from '../functions/catalogue/compact-catalogue.ts';
import type { EngineCatalogue } from '../shared/catalogue/catalogue.ts';

const expansion = fileURLToPath(new URL('../functions/catalogue/compact-catalogue.ts', import.meta.url));

/** Modules that may hold a catalogue's code, so that it can be loaded without the rest. */
const codeModules = ['requires.ts', 'detect.ts'];

/**
 * Bundles the catalogues of engines as data, in files of their own. Computing their capabilities at load time gives the
 * same result at each start, and for all of them takes as long as starting Node.
 */
export const compactCatalogues: Plugin = {
  name: 'compact-catalogues',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\/functions\/(?:engines\/[a-z-]+|catalogue\/transfers)\/catalogue\.ts$/ }, async ({ path }) => {
      const { module } = await compact(path);
      return module === undefined ? undefined : { contents: module, loader: 'js', resolveDir: dirname(path) };
    });
    onResolve({ filter: /^table:/ }, ({ path, resolveDir }) => {
      const [, engine, table] = path.split(':');
      const pluginData = { path: join(resolveDir, 'catalogue.ts'), table };
      return { path: `${engine}-${table}.json`, namespace: 'table', pluginData };
    });
    onLoad({ filter: /./, namespace: 'table' }, async ({ pluginData }) => {
      const tables: Record<string, string> = { ...(await compact(pluginData.path)).tables };
      return { contents: tables[pluginData.table] ?? '', loader: 'file' };
    });
  },
};

interface Compact {
  /** Absent if the catalogue has code of its own, and is bundled unchanged. */
  module: string | undefined;
  tables: CompactTables;
}

/** Cached by path: dozens of bundles are made concurrently, each with all catalogues. */
const known = new Map<string, Promise<Compact>>();

function compact(path: string): Promise<Compact> {
  const made = known.get(path) ?? makeCompact(path);
  known.set(path, made);
  return made;
}

async function makeCompact(path: string): Promise<Compact> {
  const { catalogue }: { catalogue: EngineCatalogue } = await import(pathToFileURL(path).href);
  return { module: await moduleOf(catalogue, dirname(path)), tables: compactTables(catalogue) };
}

async function moduleOf(catalogue: EngineCatalogue, folder: string): Promise<string | undefined> {
  const { formats: _formats, capabilities: _capabilities, requires, detect, ...head } = catalogue;
  const code: string[] = [];
  for (const [name, use] of Object.entries({ requires, detect })) {
    if (!use) continue;
    const loaded = await importOf(use, folder);
    if (loaded === undefined) return undefined;
    code.push(`${name}: (...given) => ${loaded}(...given),`);
  }
  return `
    import { expandCatalogue } from ${JSON.stringify(expansion)};
    import formats from 'table:${head.engine}:formats';
    import capabilities from 'table:${head.engine}:capabilities';
    const paths = { formats, capabilities };
    const read = (table) => process.getBuiltinModule('node:fs').readFileSync(new URL(paths[table], import.meta.url), 'utf8');
    export const catalogue = expandCatalogue(${JSON.stringify(head)}, read, { ${code.join(' ')} });
  `;
}

/** Returns an expression that loads a function on its first call. esbuild splits at `require`. */
async function importOf(use: unknown, folder: string): Promise<string | undefined> {
  for (const name of codeModules.filter((each) => existsSync(join(folder, each)))) {
    const exports: Record<string, unknown> = await import(pathToFileURL(join(folder, name)).href);
    const found = Object.keys(exports).find((key) => exports[key] === use);
    if (found) return `require('./${name}').${found}`;
  }
  return undefined;
}
