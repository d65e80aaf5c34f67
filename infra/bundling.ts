import { fileURLToPath } from 'node:url';

/** The checkout's root. */
export const projectRoot = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** How zip functions are bundled, by the stack and by the checks of bundle size alike. */
export const bundling = {
  minify: true,
  sourceMap: false,
  target: 'node24',
  mainFields: ['module', 'main'],
  // Bundled CommonJS packages call require, which an ES module does not have.
  banner: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
};
