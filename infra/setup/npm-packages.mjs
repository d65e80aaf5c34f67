import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
/** Node 24, from the development dependency of that name. */
export const node = `${root}node_modules/.bin/node`;

const stamp = `${root}node_modules/.lathe-installed`;

/** Installs the packages of the lock file, once for each state of it. */
export function installNpmPackages() {
  const wanted = createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .update(process.arch)
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && existsSync(node)) return;
  console.log('Installing npm packages …');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) {
    console.error('npm ci failed; its message is above. Lathe needs the npm registry for its first start.');
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}
