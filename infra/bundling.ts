import { fileURLToPath } from 'node:url';

/** The checkout's root. */
export const projectRoot = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

const alias = {
  http: `${projectRoot}/infra/node-http.cjs`,
  'node:http': `${projectRoot}/infra/node-http.cjs`,
  '@aws-sdk/credential-provider-node': `${projectRoot}/functions/wiring/environment-credentials.ts`,
  // Packages beside it pin other versions of it, each of which would be in the bundle a second time.
  '@aws-sdk/client-s3': `${projectRoot}/node_modules/@aws-sdk/client-s3`,
};

/** How zip functions are bundled: for a deployment, for this machine and for the checks of bundle size alike. */
export const bundling = {
  minify: true,
  sourceMap: false,
  target: 'node24',
  mainFields: ['module', 'main'],
  // The SDK is carried inside: bundled it loads faster than the runtime's own, and its version is the tested one.
  // Native parts of ssh2 only make it faster; it works without them.
  externalModules: ['*.node', 'cpu-features'],
  esbuildArgs: Object.fromEntries(Object.entries(alias).map(([name, path]) => [`--alias:${name}`, path])),
  // Bundled CommonJS packages call require and ask where they are, which an ES module has no names for.
  banner: [
    "import { createRequire } from 'node:module';",
    'const require = createRequire(import.meta.url);',
    'const { filename: __filename, dirname: __dirname } = import.meta;',
  ].join(' '),
};

/** Returns the same settings in the words of esbuild, which the CDK calls by its command line. */
export function esbuildOptions() {
  const { minify, sourceMap, target, mainFields, externalModules, banner } = bundling;
  return {
    bundle: true,
    platform: 'node',
    format: 'esm',
    minify,
    sourcemap: sourceMap,
    target,
    mainFields,
    external: externalModules,
    alias,
    banner: { js: banner },
  } as const;
}
