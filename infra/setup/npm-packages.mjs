import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
/** Node 24, from the development dependency of that name. */
export const node = `${root}node_modules/.bin/node`;

const stamp = `${root}node_modules/.lathe-installed`;

/** Installs the packages of the lock file, once for each state of it, and returns whether they are there. */
export async function installNpmPackages() {
  const wanted = createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .update(process.arch)
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && existsSync(node)) return true;
  console.log('Installing npm packages …');
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  if (!(await succeeds('npm', args, { cwd: root, stdio: 'inherit' }))) {
    console.error('npm ci failed; its message is above. Lathe needs the npm registry for its first start.');
    return false;
  }
  writeFileSync(stamp, wanted);
  return true;
}

/** Runs a program, and returns whether it could be started and exited with 0. */
export function succeeds(program, args, options) {
  return new Promise((resolve) => {
    spawn(program, args, options)
      .once('error', () => resolve(false))
      .once('exit', (code) => resolve(code === 0));
  });
}
