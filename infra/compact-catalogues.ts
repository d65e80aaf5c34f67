import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import { type CompactTables, compactTables } from '../functions/catalogue/compact-catalogue.ts';
import type { EngineCatalogue } from '../shared/catalogue/catalogue.ts';

const expansion = fileURLToPath(new URL('../functions/catalogue/compact-catalogue.ts', import.meta.url));

/** Where the code of a catalogue may be, so that it can be loaded without the rest of it. */
const codeModules = ['requires.ts', 'detect.ts'];

/**
 * Puts the catalogues of engines into bundles as data, in files beside the code. Each computes its capabilities from tables of
 * formats and options when it is loaded, all of which is the same at each start: together they took as long as Node itself.
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
  /** Absent where the catalogue has code of its own, and is bundled as it is. */
  module: string | undefined;
  tables: CompactTables;
}

/** By path: dozens of bundles are made at once, each with all catalogues. */
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

/** Returns the expression that loads a function when it is called, which esbuild makes of `require`. */
async function importOf(use: unknown, folder: string): Promise<string | undefined> {
  for (const name of codeModules.filter((each) => existsSync(join(folder, each)))) {
    const exports: Record<string, unknown> = await import(pathToFileURL(join(folder, name)).href);
    const found = Object.keys(exports).find((key) => exports[key] === use);
    if (found) return `require('./${name}').${found}`;
  }
  return undefined;
}
