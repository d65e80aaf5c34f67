import { join } from 'node:path';
import { build } from 'esbuild';
import { esbuildOptions, projectRoot } from '../../infra/bundling.ts';

export interface Bundle {
  code: Uint8Array;
  /** Paths from the project's root of what went into it, with how much of it is in the bundle. */
  parts: { path: string; bytes: number }[];
}

/** What the runtime of Lambda would bring. */
const sdk = ['@aws-sdk/*', '@smithy/*'];

/** Bundles functions' modules as the stack's NodejsFunction does, or without the SDK to compare. */
export async function bundle(entries: string[], { withSdk = true } = {}): Promise<Map<string, Bundle>> {
  const options = esbuildOptions();
  const { outputFiles, metafile } = await build({
    ...options,
    external: withSdk ? options.external : [...options.external, ...sdk],
    // Each is a bundle of its own; together they only share the reading of what they are made of.
    entryPoints: entries,
    absWorkingDir: projectRoot,
    outbase: '.',
    outdir: '.',
    outExtension: { '.js': '.mjs' },
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  return new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint = '', inputs }]) => [
      entryPoint,
      {
        code: outputFiles.find((file) => file.path === join(projectRoot, path))?.contents ?? new Uint8Array(),
        parts: Object.entries(inputs).map(([part, { bytesInOutput }]) => ({ path: part, bytes: bytesInOutput })),
      },
    ]),
  );
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
