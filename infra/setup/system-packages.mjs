import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { root } from './npm-packages.mjs';

/**
 * Installs the Debian packages that engines, and tests when they are to run, name in their packages.txt, where this user
 * may; otherwise says what would. Those of packages-optional.txt come along only when they are asked for.
 */
export function installSystemPackages({ forTests, optional }) {
  const lists = ['packages.txt', ...(optional ? ['packages-optional.txt'] : [])];
  const users = readdirSync(`${root}functions/engines`, { withFileTypes: true }).flatMap((entry) =>
    lists
      .map((list) => `${root}functions/engines/${entry.name}/${list}`)
      .filter((path) => entry.isDirectory() && existsSync(path))
      .map((path) => ({ name: `The ${entry.name} engine`, packages: readPackages(path) })),
  );
  if (forTests) users.push({ name: 'A part of the tests', packages: readPackages(`${root}test/packages.txt`) });
  const missing = missingOf([...new Set(users.flatMap((user) => user.packages))]);
  if (missing.length === 0) return;

  const prefix = rightToInstall();
  if (prefix) {
    console.log(`Installing Debian packages: ${missing.join(' ')} …`);
    if (install(prefix, missing)) return;
    console.error('apt-get failed; its message is above.');
  }
  for (const user of users) {
    const lacks = user.packages.filter((name) => missing.includes(name));
    if (lacks.length > 0)
      console.log(`${user.name} stays off until its programs are there: sudo apt-get install ${lacks.join(' ')}`);
  }
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
  if (spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status !== 0) return undefined;
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : undefined;
}

function install(prefix, packages) {
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
    return spawnSync(command, rest, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
  };
  return apt('update') && apt('install', '-y', '--no-install-recommends', ...packages);
}
