import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
/** Node 24, from the dependency of that name. */
export const node = `${root}node_modules/.bin/node`;

const stamp = `${root}node_modules/.lathe-installed`;

/**
 * Installs the packages of the lock file, once for each state of it, and returns whether they are there. `npm start` needs
 * less than half of them: the others are for tests, checks and deployments.
 */
export async function installNpmPackages({ forStart }) {
  const all = createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .update(process.arch)
    .digest('hex');
  const some = `${all} without development`;
  const installed = existsSync(stamp) && existsSync(node) ? readFileSync(stamp, 'utf8') : '';
  if (installed === all || (forStart && installed === some)) return true;
  console.log('Installing npm packages …');
  const options = ['--no-audit', '--no-fund', '--loglevel=error'];
  const ci = ['ci', ...(forStart ? ['--omit=dev'] : []), ...options];
  // `npm ci` would remove the packages that a running service loads from.
  const args = installed === some ? ['install', '--no-save', ...options] : ci;
  if (!(await succeeds('npm', args, { cwd: root, stdio: 'inherit' }))) {
    console.error(`npm ${args[0]} failed; its message is above. Lathe needs the npm registry for its first start.`);
    return false;
  }
  writeFileSync(stamp, forStart ? some : all);
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
