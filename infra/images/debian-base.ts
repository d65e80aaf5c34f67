import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../bundling.ts';
import { run, succeeds } from './shell.ts';

const release = 'bookworm';
const sources = '/etc/apt/sources.list.d/debian.sources';
const publicMirror = 'http://deb.debian.org/debian';

/**
 * Builds an equivalent of node:24-bookworm-slim for the engines' Dockerfile from Debian packages and the npm package
 * `node`.
 */
export function makeBase(buildah: string[], name: string): void {
  if (!succeeds(['debootstrap', '--version']))
    run(['apt-get', '-qq', 'install', '-y', '--no-install-recommends', 'debootstrap']);
  const folder = mkdtempSync(join(tmpdir(), 'lathe-base-'));
  try {
    run(['debootstrap', '--variant=minbase', release, folder, mirror()], { stdio: ['ignore', 'ignore', 'inherit'] });
    rmSync(join(folder, 'var/cache/apt'), { recursive: true });
    addNode(folder);
    const container = run([...buildah, 'from', 'scratch']);
    run([...buildah, 'add', '--quiet', container, folder, '/']);
    run([...buildah, 'commit', '--quiet', '--rm', container, name]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function addNode(folder: string): void {
  const local = join(folder, 'usr/local');
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true });
  copyFileSync(join(projectRoot, 'node_modules/node/bin/node'), join(local, 'bin/node'));
  const npm = join(run(['npm', 'root', '--global'], { stdio: ['ignore', 'pipe', 'ignore'] }), 'npm');
  cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true, dereference: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
}

/** Returns the mirror that this machine uses. */
function mirror(): string {
  if (!succeeds(['test', '-r', sources])) return publicMirror;
  return /^URIs:\s*(\S+)/m.exec(readFileSync(sources, 'utf8'))?.[1] ?? publicMirror;
}
