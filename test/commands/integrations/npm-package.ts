import { join } from 'node:path';
import { projectRoot } from '../../../infra/bundling.ts';
import type { Tools } from './tools.ts';

const linters = { publint: '0.3.25', '@arethetypeswrong/cli': '0.18.5' };

/** Packs a package of this project into a folder, and returns the path of the tarball. */
export function pack(tools: Tools, name: string, folder: string): string {
  const args = ['pack', '--silent', '--pack-destination', folder];
  return join(folder, tools.run('npm', args, { cwd: join(projectRoot, 'packages', name) }).trim());
}

/** Throws the findings of publint and of Are The Types Wrong about a tarball. */
export function lintTarball(tools: Tools, tarball: string, { isEsmOnly = false } = {}): void {
  const versions = Object.entries(linters).map(([name, version]) => `${name}@${version}`);
  const bin = join(tools.npmPackages('npm-package', versions), 'node_modules/.bin');
  const found = tools.run(join(bin, 'publint'), ['--strict', tarball]);
  // With --strict its warnings are errors, but suggestions are not.
  if (!found.includes('All good!')) throw new Error(`publint has suggestions for ${tarball}:\n${found}`);
  tools.run(join(bin, 'attw'), [tarball, '--no-emoji', '--no-color', ...(isEsmOnly ? ['--profile', 'esm-only'] : [])]);
}
