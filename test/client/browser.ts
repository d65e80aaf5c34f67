import { build } from 'esbuild';

/** Bundles the client as the tools of web pages do. */
export async function bundleForBrowser(): Promise<{ code: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: ['packages/client/src/index.ts'],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    minify: true,
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  return { code: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) };
}

/** Returns how many bytes of script a page with the client loads at first, without the modules that are loaded on demand. */
export async function firstLoadBytes(): Promise<number> {
  const { metafile } = await build({
    entryPoints: ['packages/client/src/index.ts'],
    bundle: true,
    splitting: true,
    platform: 'browser',
    format: 'esm',
    minify: true,
    metafile: true,
    write: false,
    outdir: 'unused',
    logLevel: 'silent',
  });
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith('/index.ts'))?.[0];
  const loaded = new Set<string>();
  const pending = entry === undefined ? [] : [entry];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    loaded.add(next);
    const { imports = [] } = metafile.outputs[next] ?? {};
    pending.push(
      ...imports.filter(({ path, kind }) => kind === 'import-statement' && !loaded.has(path)).map(({ path }) => path),
    );
  }
  return [...loaded].reduce((sum, path) => sum + (metafile.outputs[path]?.bytes ?? 0), 0);
}
