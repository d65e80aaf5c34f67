import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from './shell.ts';

/** Files that only an image needs, and the magick build that no engine loads. */
const leftOut = ['Dockerfile', 'packages.txt', 'package-lock.json', 'node_modules/@imagemagick/magick-wasm/dist/x64'];

/**
 * Writes the content of a zip function from the build context of an engine: its modules, and its packages for Lambda.
 */
export function installContext(context: string, folder: string): void {
  cpSync(context, folder, { recursive: true });
  const platform = ['--os=linux', '--cpu=x64', '--libc=glibc'];
  run(['npm', 'ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', ...platform], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const name of leftOut) rmSync(join(folder, name), { recursive: true, force: true });
  const engine = basename(context).replace(/-[^-]+$/, '');
  // The managed runtime requires JavaScript handlers, which may import TypeScript.
  writeFileSync(join(folder, 'index.mjs'), `export { handler } from './functions/engines/${engine}/handler.ts';\n`);
}
