import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Bundles Node's built-in modules without importing them. An import evaluates all exports of a module, including lazy
 * ones: for its WebSocket export, `node:http` loads Node's whole fetch, which takes 45 ms of processor time at each
 * start and megabytes of memory; `node:process` opens the standard streams.
 */
export const plainBuiltins: Plugin = {
  name: 'plain-builtins',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(?:node:)?[a-z_0-9/]+$/ }, ({ path }) =>
      isBuiltin(path) ? { path: `node:${path.replace(/^node:/, '')}`, namespace: 'builtin' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
      loader: 'js',
    }));
  },
};
