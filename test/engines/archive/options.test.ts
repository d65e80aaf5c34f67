import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../functions/engines/runtime/program.ts';
import { convert, quiet, temporaryFolder } from './convert.ts';
import { tar } from './handmade.ts';
import { digestTree, matrix, members, writeMembers } from './matrix.ts';

const run = (program: string, args: string[], cwd: string) =>
  runProgram(program, args, { cwd, env: { LC_ALL: 'C.UTF-8' } });

describe('options of the archive engine', () => {
  it.each(['zip', '7z', 'tar.gz', 'tar.bz2', 'tar.xz', 'tar.zst', 'cbz', 'cb7'])(
    'writes a smaller %s at a higher compression_level',
    async (format) => {
      const folder = await temporaryFolder();
      const path = join(folder, 'sample.tar');
      const words = await readFile(new URL('../../../package-lock.json', import.meta.url));
      await writeFile(path, tar([{ name: 'words.txt', data: words }]));

      const fast = await convert(path, 'tar', format, { compression_level: 1 });
      const small = await convert(path, 'tar', format, { compression_level: 9 });

      expect((await stat(small.path)).size).toBeLessThanOrEqual((await stat(fast.path)).size);
    },
  );

  it.each(['zip', '7z', 'tar.gz'])('stores without compressing at level 0 in a %s', async (format) => {
    const folder = await temporaryFolder();
    const path = join(folder, 'sample.tar');
    await writeFile(path, tar([{ name: 'zeros', data: Buffer.alloc(500_000) }]));

    const stored = await convert(path, 'tar', format, { compression_level: 0 });

    expect((await stat(stored.path)).size).toBeGreaterThan(500_000);
  });

  it('sets a password on a zip that another program opens with it alone', async () => {
    const folder = await temporaryFolder();
    const path = await matrix.sample('tar', folder);

    const output = await convert(path, 'tar', 'zip', { output_password: 'pässwörd -x' });

    const listing = await run('7zz', ['l', '-slt', output.path], folder);
    expect(listing.stdout).toContain('AES-256');
    await expect(run('7zz', ['t', '-pwrong', output.path], folder)).rejects.toThrow();
    const into = join(folder, 'opened');
    await run('7zz', ['x', '-ppässwörd -x', `-o${into}`, output.path], folder);
    expect(await digestTree(into)).toEqual(await digestTree(await writeMembers(join(folder, 'expected'))));
  });

  it('sets a password on a 7z that hides the names too', async () => {
    const folder = await temporaryFolder();
    const path = await matrix.sample('tar', folder);

    const output = await convert(path, 'tar', '7z', { output_password: '-secret' });

    expect((await readFile(output.path)).includes('zeta')).toBe(false);
    await expect(run('7zz', ['l', '-pwrong', output.path], folder)).rejects.toThrow();
    expect((await run('7zz', ['l', '-p-secret', output.path], folder)).stdout).toContain('zeta.txt');
  });

  it.each([
    ['zip', ['-tzip', '-mem=AES256']],
    ['zip', ['-tzip', '-mem=ZipCrypto']],
    ['7z', ['-t7z', '-mhe=on']],
    ['7z', ['-t7z', '-mhe=off']],
  ])('opens a %s packed with %s by its password and leaves none on the output', async (format, args) => {
    const folder = await temporaryFolder();
    const tree = await writeMembers(join(folder, 'tree'));
    const path = join(folder, `locked.${format}`);
    await run('7zz', ['a', ...args, '-psecret', path, '.'], tree);

    const output = await convert(path, format, 'tar', { password: 'secret' });

    await matrix.verify({ path: output.path, format: 'tar' }, { path, format }, 'convert');
  });

  it.each(['zip', 'tar', 'tar.gz', 'cpio', 'cbz'])('keeps the order of names in a %s', async (format) => {
    const folder = await temporaryFolder();
    const path = await matrix.sample('tar', folder);

    const output = await convert(path, 'tar', format);

    const { stdout } = await run('bsdtar', ['-tf', output.path], folder);
    expect(stdout.trim().split('\n')).toEqual(members.map(({ name }) => name));
  });

  it.each(['zip', 'tar.gz', '7z'])(
    'keeps links within the archive, empty folders, modes and times in a %s',
    async (format) => {
      const folder = await temporaryFolder();
      const path = join(folder, 'unix.tar');
      const data = '#!/bin/sh\n';
      await writeFile(
        path,
        tar([
          { name: 'bin', type: '5', mode: 0o755 },
          { name: 'bin/run', data, mode: 0o755 },
          { name: 'run', type: '2', link: 'bin/run' },
          { name: 'empty', type: '5', mode: 0o755 },
          { name: '@odd -name*', data: 'odd' },
          { name: '-C', data: 'option' },
        ]),
      );

      const output = await convert(path, 'tar', format);

      const { stdout } = await run('bsdtar', ['-tvf', output.path], folder);
      const lines = stdout.trim().split('\n');
      expect(lines).toHaveLength(6);
      expect(stdout).toMatch(/^l.* run -> bin\/run$/m);
      expect(stdout).toMatch(/^-rwxr-xr-x.* 1970 bin\/run$/m);
      expect(stdout).toMatch(/^d.* empty\/$/m);
      expect(stdout).toMatch(/ @odd -name\*$/m);
      expect(stdout).toMatch(/ -C$/m);
    },
  );

  it('reports progress up to the end', async () => {
    const folder = await temporaryFolder();
    const path = await matrix.sample('zip', folder);
    const seen: number[] = [];

    await convert(path, 'zip', 'tar', {}, { ...quiet, progress: (percent) => seen.push(percent) });

    expect(seen).toEqual([50, 100]);
  });
});
