import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { node, root, succeeds } from './npm-packages.mjs';

/**
 * Installs the Debian packages that engines, and tests when they are to run, name in their packages.txt, where this user
 * may; those of packages-optional.txt only with `optional`. Otherwise prints how to install them; what needs none of them
 * works without. On other systems it waits for the npm packages, of which the hint needs Node.
 */
export async function installSystemPackages({ forTests, optional }, npmPackages) {
  if (!isThere('apt-get')) {
    if (await npmPackages) hintForOthers({ forTests });
    return;
  }
  const missing = missingOf(wantedPackages({ forTests, optional }));
  if (missing.length === 0) return;

  const prefix = rightToInstall();
  if (prefix) {
    console.log(`Installing Debian packages: ${missing.join(' ')} …`);
    if (await install(prefix, missing)) return;
    console.error('apt-get failed; its message is above.');
  }
  console.log(`Continuing without some programs. To install them all: sudo apt-get install ${missing.join(' ')}`);
}

function wantedPackages({ forTests, optional }) {
  const names = ['packages.txt', ...(optional ? ['packages-optional.txt'] : [])];
  const lists = readdirSync(`${root}functions/engines`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => names.map((name) => `${root}functions/engines/${entry.name}/${name}`))
    .filter((path) => existsSync(path));
  if (forTests) lists.push(`${root}test/packages.txt`);
  return [...new Set(lists.flatMap(readPackages))];
}

/** Other systems have other names for the programs; the engines' own catalogues know those of Homebrew. */
function hintForOthers({ forTests }) {
  spawnSync(node, [`${root}infra/setup/print-hint.ts`], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (forTests)
    console.log('Some tests need programs that are listed, by their Debian packages, in test/packages.txt.');
}

function isThere(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}

function readPackages(path) {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith('#'));
}

function missingOf(packages) {
  if (packages.length === 0) return [];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills it in
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f=${Package} ${db:Status-Status}\n', ...packages], {
    encoding: 'utf8',
  });
  const installed = new Set(
    (stdout ?? '').split('\n').flatMap((line) => (line.endsWith(' installed') ? [line.split(' ')[0]] : [])),
  );
  return packages.filter((name) => !installed.has(name));
}

function rightToInstall() {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : undefined;
}

async function install(prefix, packages) {
  const apt = (...args) => {
    const [command, ...rest] = [
      ...prefix,
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      '-qq',
      '-o',
      'DPkg::Lock::Timeout=600',
      ...args,
    ];
    return succeeds(command, rest, { stdio: ['ignore', 'ignore', 'inherit'] });
  };
  return (await apt('update')) && (await apt('install', '-y', '--no-install-recommends', ...packages));
}
