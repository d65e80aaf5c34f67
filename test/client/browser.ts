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
