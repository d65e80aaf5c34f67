import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Takes Node's own modules into bundles without importing them. An import reads all exports of a module, among them those that
 * Node makes when they are read: with that for WebSockets, `node:http` loads Node's whole fetch, which takes 45 ms of
 * processor time at each start of a function and megabytes of its memory; `node:process` opens the standard streams.
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
