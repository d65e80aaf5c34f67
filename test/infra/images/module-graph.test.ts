import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { installationOf } from '../../../infra/images/lock-file.ts';
import { moduleGraph } from '../../../infra/images/module-graph.ts';

function project(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'lathe-test-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

test('the graph follows imports, dynamic imports and files named by URL, and leaves out types', () => {
  const root = project({
    'a/main.ts': `
      import type { T } from './types.ts';
      import { type U, u } from '../b/used.ts';
      import {} from './effects.ts';
      import '@scope/name/part';
      export const later = () => import('./later.ts');
      export const child = new URL('child.ts', import.meta.url);
      export const script = new URL('../b/script.py', import.meta.url);
      export const x: [T, U] = [u, u];`,
    'a/types.ts': 'export type T = number;',
    'a/effects.ts': "import 'node:fs'; import 'path';",
    'a/later.ts': "export { x } from 'lazy';",
    'a/child.ts': "import './grandchild.ts';",
    'a/grandchild.ts': "import 'deep';",
    'b/used.ts': 'export type U = number; export const u = 1;',
    'b/script.py': '',
    'b/unused.ts': '',
  });

  expect(moduleGraph(root, ['a/main.ts'])).toEqual({
    files: ['a/child.ts', 'a/effects.ts', 'a/grandchild.ts', 'a/later.ts', 'a/main.ts', 'b/script.py', 'b/used.ts'],
    packages: ['@scope/name', 'deep', 'lazy'],
  });
});

test.for([
  ["new URL('missing.py', import.meta.url)", 'names missing.py, which is not a file'],
  ['import.meta.dirname', 'names a file in a way that images do not follow'],
  ["new URL('../../' + name, import.meta.url)", 'names a file in a way that images do not follow'],
] as const)('a module that finds files by %s is refused', ([expression, message]) => {
  const root = project({ 'main.ts': `const name = ''; export const found = [name, ${expression}];` });
  expect(() => moduleGraph(root, ['main.ts'])).toThrow(message);
});

const lock = {
  lockfileVersion: 3,
  packages: {
    '': { dependencies: { a: '^1.0.0', b: '^1.0.0' } },
    'node_modules/a': { dependencies: { c: '^2.0.0' }, optionalDependencies: { 'a-linux': '1', 'a-darwin': '1' } },
    'node_modules/a/node_modules/c': { dependencies: { d: '1' } },
    'node_modules/a-linux': {},
    'node_modules/a-darwin': {},
    'node_modules/b': {},
    'node_modules/c': {},
    'node_modules/d': { peerDependencies: { absent: '1' } },
    'node_modules/dev': {},
  },
};

test('an installation holds the packages it is asked for with their dependencies, on every platform', () => {
  expect(installationOf('part', lock, ['a'])).toMatchObject({ packageJson: { dependencies: { a: '^1.0.0' } } });
  const { lockFile } = installationOf('part', lock, ['a']);
  expect(lockFile).toHaveProperty('packages');
  expect(Object.keys('packages' in lockFile ? Object(lockFile.packages) : {}).sort()).toEqual([
    '',
    'node_modules/a',
    'node_modules/a-darwin',
    'node_modules/a-linux',
    'node_modules/a/node_modules/c',
    'node_modules/d',
  ]);
});

test('a package for development only is refused', () => {
  expect(() => installationOf('part', lock, ['dev'])).toThrow('dev is imported by part but is not in dependencies');
});
