import { fileURLToPath } from 'node:url';

/** The checkout's root. */
export const projectRoot = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** How zip functions are bundled, by the stack and by the checks of bundle size alike. */
export const bundling = {
  minify: true,
  sourceMap: false,
  target: 'node24',
  mainFields: ['module', 'main'],
  // The runtime brings the SDK. Native parts of ssh2 only make it faster; it works without them.
  externalModules: ['@aws-sdk/*', '@smithy/*', '*.node', 'cpu-features'],
  // Bundled CommonJS packages call require and ask where they are, which an ES module has no names for.
  banner: [
    "import { createRequire } from 'node:module';",
    'const require = createRequire(import.meta.url);',
    'const { filename: __filename, dirname: __dirname } = import.meta;',
  ].join(' '),
};
