import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { compactCatalogues } from './compact-catalogues.ts';
import { plainBuiltins } from './plain-builtins.ts';
import { readyOpenapi } from './ready-openapi.ts';

/** The checkout's root. */
export const projectRoot = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** What bundles are made of, beside the modules that functions are named by. */
export const bundleSources = [
  'package-lock.json',
  'infra/bundling.ts',
  'infra/compact-catalogues.ts',
  'infra/plain-builtins.ts',
  'infra/ready-openapi.ts',
  'functions',
  'packages/client/src',
  'shared',
];

/**
 * Returns how esbuild makes the folder of a zip function, with `index.mjs` in it: for a deployment, for this machine and for
 * the checks of bundles alike. What a module imports on demand is a file of its own, since Node reads the whole of each.
 */
export function bundlingOf(entry: string) {
  return {
    absWorkingDir: projectRoot,
    entryPoints: [{ in: entry, out: 'index' }],
    outExtension: { '.js': '.mjs' },
    chunkNames: 'part-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    minify: true,
    target: 'node24',
    mainFields: ['module', 'main'],
    // The SDK is carried inside: bundled it loads faster than the runtime's own, and its version is the tested one.
    // Native parts of ssh2 only make it faster; it works without them.
    external: ['*.node', 'cpu-features'],
    alias: {
      '@aws-sdk/credential-provider-node': `${projectRoot}/functions/wiring/environment-credentials.ts`,
      // Packages beside it pin other versions of it, each of which would be in the bundle a second time.
      '@aws-sdk/client-s3': `${projectRoot}/node_modules/@aws-sdk/client-s3`,
    },
    plugins: [compactCatalogues, plainBuiltins, readyOpenapi],
    // Bundled CommonJS packages call require and ask where they are, which an ES module has no names for.
    banner: {
      js: [
        "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
        'const { filename: __filename, dirname: __dirname } = import.meta;',
      ].join(' '),
    },
    // What went into each bundle, which the checks of bundles read.
    metafile: true,
    logLevel: 'warning',
  } as const satisfies BuildOptions;
}
