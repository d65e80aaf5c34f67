import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { compactCatalogues } from './compact-catalogues.ts';
import { plainBuiltins } from './plain-builtins.ts';
import { readyOpenapi } from './ready-openapi.ts';

/** The checkout's root. */
export const projectRoot = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** The sources of bundles, in addition to the entry modules. */
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
 * Returns the esbuild options for the folder of a zip function, with `index.mjs` in it. Deployments, the local stack
 * and the bundle checks share them. Modules that are imported on demand become files of their own, because Node reads
 * each file whole.
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
    // The SDK is bundled: it loads faster than the runtime's own, and has the tested version. ssh2 works without its
    // native parts.
    external: ['*.node', 'cpu-features'],
    alias: {
      '@aws-sdk/credential-provider-node': `${projectRoot}/functions/wiring/environment-credentials.ts`,
      '@aws-sdk/endpoint-cache': `${projectRoot}/functions/wiring/no-endpoint-cache.ts`,
      // Other packages pin other versions, and each would add a second copy to the bundle.
      '@aws-sdk/client-s3': `${projectRoot}/node_modules/@aws-sdk/client-s3`,
    },
    plugins: [compactCatalogues, plainBuiltins, readyOpenapi],
    // Bundled CommonJS packages use require, __filename and __dirname, which ES modules lack.
    banner: {
      js: [
        "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
        'const { filename: __filename, dirname: __dirname } = import.meta;',
      ].join(' '),
    },
    // Read by the bundle checks.
    metafile: true,
    logLevel: 'warning',
  } as const satisfies BuildOptions;
}
