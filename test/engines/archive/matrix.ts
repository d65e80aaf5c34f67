import { createHash } from 'node:crypto';
import { cp, lstat, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runProgram } from '../../../functions/engines/runtime/program.ts';
import type { EngineMatrix } from '../matrix.ts';
import { lzh, type Member, rar5 } from './handmade.ts';

/** Names in no sorted order and in several scripts, text, bytes that do not compress, and an empty file. */
export const members: Member[] = [
  { name: 'zeta.txt', data: 'The last letter comes first.\n'.repeat(200) },
  { name: 'alpha.bin', data: pseudoRandom(100_000) },
  { name: 'sub/ünï 中文.txt', data: 'Grüße, 世界\n' },
  { name: 'sub/deeper/empty', data: '' },
];

const environment = { LC_ALL: 'C.UTF-8' };
const run = (program: string, args: string[], cwd: string, input?: string) =>
  runProgram(program, args, { cwd, env: environment, ...(input === undefined ? {} : { input }) });

/** Writes members as files into a folder. */
export async function writeMembers(folder: string): Promise<string> {
  for (const { name, data = '' } of members) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), data);
  }
  return folder;
}

const names = members.map(({ name }) => name);
const zipped = (tree: string, out: string) => run('zip', ['-q', '-X', out, ...names], tree);
const tarred = (tree: string, out: string) => run('tar', ['-cf', out, ...names], tree);
const sevenZipped = (tree: string, out: string) => run('bsdtar', ['-c', '-f', out, '--format=7zip', ...names], tree);

type Maker = (tree: string, out: string) => Promise<unknown>;

/** Compresses with a program that works on a file in place. */
function compressed(program: string, suffix: string, make: Maker): Maker {
  return async (tree, out) => {
    const plain = join(tree, '..', 'plain');
    await make(tree, plain);
    await run(program, ['-f', plain], tree);
    await rename(`${plain}${suffix}`, out);
  };
}
const single: Maker = (tree, out) => cp(join(tree, 'zeta.txt'), out);
const jarLike: Maker = async (tree, out) => {
  await mkdir(join(tree, 'META-INF'), { recursive: true });
  await writeFile(join(tree, 'META-INF/MANIFEST.MF'), 'Manifest-Version: 1.0\n');
  await run('zip', ['-q', '-X', out, 'META-INF/MANIFEST.MF', ...names], tree);
};

const makers: Record<string, Maker> = {
  '7z': sevenZipped,
  apk: jarLike,
  ar: (tree, out) => run('ar', ['rc', out, 'zeta.txt', 'alpha.bin'], tree),
  arj: async (tree, out) => {
    await run('arj', ['a', '-y', '-r', `${out}.arj`, ...names], tree);
    await rename(`${out}.arj`, out);
  },
  bz2: compressed('bzip2', '.bz2', single),
  cab: (tree, out) => run('gcab', ['-c', out, 'zeta.txt', 'alpha.bin', 'sub/ünï 中文.txt'], tree),
  cb7: sevenZipped,
  cbr: (_tree, out) => writeFile(out, rar5(members)),
  cbt: tarred,
  cbz: zipped,
  cpio: (tree, out) => run('cpio', ['-o', '-H', 'newc', '-F', out], tree, `${names.join('\n')}\n`),
  deb: async (tree, out) => {
    const root = join(tree, '..', 'deb');
    await mkdir(join(root, 'DEBIAN'), { recursive: true });
    await cp(tree, join(root, 'opt'), { recursive: true });
    const control = [
      'Package: sample',
      'Version: 1',
      'Architecture: all',
      'Maintainer: A <a@example.com>',
      'Description: x',
    ];
    await writeFile(join(root, 'DEBIAN/control'), `${control.join('\n')}\n`);
    await run('dpkg-deb', ['-b', root, out], tree);
  },
  gz: compressed('gzip', '.gz', single),
  iso: (tree, out) => run('genisoimage', ['-quiet', '-J', '-R', '-input-charset', 'utf-8', '-o', out, '.'], tree),
  jar: jarLike,
  lzh: (_tree, out) => writeFile(out, lzh(members.filter(({ name }) => !name.includes('/')))),
  lzma: compressed('lzma', '.lzma', single),
  rar: (_tree, out) => writeFile(out, rar5(members)),
  rpm: async (tree, out) => {
    const top = join(tree, '..', 'rpm');
    const copy = `mkdir -p %{buildroot}/opt; cp -r ${tree}/. %{buildroot}/opt/`;
    const spec = `Name: sample\nVersion: 1\nRelease: 1\nSummary: x\nLicense: MIT\nBuildArch: noarch\n%description\nx\n%install\n${copy}\n%files\n/opt/*\n`;
    await mkdir(top, { recursive: true });
    await writeFile(join(top, 'sample.spec'), spec);
    const quiet = ['--define', `_topdir ${top}`, '--define', '__os_install_post %{nil}', '--quiet'];
    await run('rpmbuild', ['-bb', ...quiet, join(top, 'sample.spec')], tree);
    await rename(join(top, 'RPMS/noarch/sample-1-1.noarch.rpm'), out);
  },
  squashfs: (tree, out) => run('mksquashfs', [tree, out, '-quiet', '-no-progress'], tree),
  tar: tarred,
  'tar.bz2': compressed('bzip2', '.bz2', tarred),
  'tar.gz': compressed('gzip', '.gz', tarred),
  'tar.lzma': compressed('lzma', '.lzma', tarred),
  'tar.xz': compressed('xz', '.xz', tarred),
  'tar.z': compressed('compress', '.Z', tarred),
  'tar.zst': async (tree, out) => compressed('zstd', '.zst', tarred)(tree, out),
  war: jarLike,
  wim: (tree, out) => run('wimlib-imagex', ['capture', tree, out], tree),
  xar: (tree, out) => run('bsdtar', ['-c', '-f', out, '--format=xar', ...names], tree),
  xpi: jarLike,
  xz: compressed('xz', '.xz', single),
  z: compressed('compress', '.Z', single),
  zip: zipped,
  zst: compressed('zstd', '.zst', single),
};

/** Another program than the engine's writer for each output. */
const unpackers: Record<string, (path: string, into: string) => Promise<unknown>> = {
  '7z': (path, into) => run('bsdtar', ['-x', '-f', path], into),
  cpio: async (path, into) => run('cpio', ['-i', '-d', '--quiet', '-F', path], into),
  tar: (path, into) => run('tar', ['-xf', path], into),
  'tar.bz2': (path, into) => run('tar', ['-xjf', path], into),
  'tar.gz': (path, into) => run('tar', ['-xzf', path], into),
  'tar.xz': (path, into) => run('tar', ['-xJf', path], into),
  'tar.zst': (path, into) => run('tar', ['--zstd', '-xf', path], into),
  zip: (path, into) => run('unzip', ['-q', path], into),
};
const sameAs: Record<string, string> = { cb7: '7z', cbt: 'tar', cbz: 'zip' };

export const matrix: EngineMatrix = {
  engine: 'archive',
  async sample(format, folder) {
    const maker = makers[format];
    if (!maker) throw new Error(`No sample is made of ${format}.`);
    const work = join(folder, `make-${format}`);
    await mkdir(work);
    const tree = await writeMembers(join(work, 'tree'));
    const out = join(folder, `sample.${format}`);
    await maker(tree, out);
    return out;
  },
  async verify(output, input) {
    const into = `${output.path}-verified`;
    await mkdir(into);
    await unpackers[sameAs[output.format] ?? output.format]?.(output.path, into);
    const found = await digestTree(into);
    const expected = await expectedOf(input.format, input.path);
    if (JSON.stringify(found) !== JSON.stringify(expected))
      throw new Error(`Expected ${JSON.stringify(expected)} but the ${output.format} holds ${JSON.stringify(found)}.`);
  },
};

/** What a sample must turn out to hold: sorted names, each with a digest. */
async function expectedOf(format: string, path: string): Promise<Record<string, string>> {
  const pick = (wanted: (name: string) => boolean, prefix = '') =>
    sorted(members.filter(({ name }) => wanted(name)).map(({ name, data = '' }) => [prefix + name, digest(data)]));
  switch (format) {
    case 'deb': {
      const { stdout } = await run('ar', ['t', path], join(path, '..'));
      const into = await mkdirFor(`${path}-members`);
      await run('ar', ['x', path], into);
      const entries = stdout
        .trim()
        .split('\n')
        .map(async (name): Promise<[string, string]> => [name, digest(await readFile(join(into, name)))]);
      return sorted(await Promise.all(entries));
    }
    case 'ar':
    case 'lzh':
      return pick((name) => !name.includes('/'));
    case 'cab':
      return pick((name) => name !== 'sub/deeper/empty');
    case 'rpm':
      return pick(() => true, 'opt/');
    case 'bz2':
    case 'gz':
    case 'lzma':
    case 'xz':
    case 'z':
    case 'zst': {
      const data = members[0]?.data ?? '';
      return { [basename(path).replace(/\.[^.]+$/, '')]: digest(data) };
    }
    case 'apk':
    case 'jar':
    case 'war':
    case 'xpi':
      return sorted([...Object.entries(pick(() => true)), ['META-INF/MANIFEST.MF', digest('Manifest-Version: 1.0\n')]]);
    default:
      return pick(() => true);
  }
}

async function mkdirFor(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  return path;
}

/** Lists the regular files below a folder with a digest of each. */
export async function digestTree(root: string): Promise<Record<string, string>> {
  const entries: [string, string][] = [];
  for (const name of await readdir(root, { recursive: true })) {
    const state = await lstat(join(root, name));
    if (state.isFile()) entries.push([name, digest(await readFile(join(root, name)))]);
  }
  return sorted(entries);
}

function sorted(entries: [string, string][]): Record<string, string> {
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function digest(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex').slice(0, 12);
}

function pseudoRandom(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    bytes[index] = state >> 16;
  }
  return bytes;
}
