import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { check } from '../../../functions/engines/archive/check.ts';
import { archiveFormats } from '../../../functions/engines/archive/formats.ts';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { runProgram } from '../../../functions/engines/runtime/program.ts';
import { convert, temporaryFolder } from './convert.ts';
import { rar5, tar, zip } from './handmade.ts';
import { matrix, writeMembers } from './matrix.ts';

async function failureOf(path: string, format: string, options = {}): Promise<EngineError> {
  const error = await convert(path, format, format === 'zip' ? 'tar' : 'zip', options).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof EngineError)) throw new Error(`Expected an EngineError but received ${String(error)}.`);
  return error;
}

describe('archives that cannot be converted', () => {
  it('runs here', async () => {
    expect(await check()).toEqual({});
  });

  // A compress stream has neither a length nor a sum, so half of one reads as a whole one.
  it.each(Object.keys(archiveFormats).filter((format) => format !== 'z'))(
    'says that a truncated %s is damaged',
    async (format) => {
      const folder = await temporaryFolder();
      const bytes = await readFile(await matrix.sample(format, folder));
      const path = join(folder, `cut.${format}`);
      // A tar cut between two members reads as a whole one; this is within one.
      await writeFile(path, bytes.subarray(0, Math.floor(bytes.length * 0.45)));

      const failure = await failureOf(path, format);

      expect(failure.message).toMatch(/damaged|incomplete/);
    },
  );

  it.each(Object.keys(archiveFormats))('says that something else under the name of a %s is damaged', async (format) => {
    const folder = await temporaryFolder();
    const path = join(folder, `noise.${format}`);
    await writeFile(path, 'This is no archive at all. '.repeat(100));

    expect((await failureOf(path, format)).message).toMatch(/damaged|incomplete/);
  });

  it.each(['zip', '7z', 'tar'])('says that a %s of no bytes is empty', async (format) => {
    const folder = await temporaryFolder();
    const path = join(folder, `empty.${format}`);
    await writeFile(path, '');

    expect((await failureOf(path, format)).message).toBe('The file is empty.');
  });

  it('says that an archive without entries is empty', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'none.zip'), zip([]));
    await writeFile(join(folder, 'none.tar'), tar([]));

    expect((await failureOf(join(folder, 'none.zip'), 'zip')).message).toMatch(/contains no files/);
    expect((await failureOf(join(folder, 'none.tar'), 'tar')).message).toMatch(/contains no files/);
  });

  it.each([
    ['zip', ['-tzip', '-mem=AES256']],
    ['zip', ['-tzip', '-mem=ZipCrypto']],
    ['7z', ['-t7z', '-mhe=on']],
    ['7z', ['-t7z', '-mhe=off']],
  ])('asks for the password of a %s packed with %s, and says when it is wrong', async (format, args) => {
    const folder = await temporaryFolder();
    const tree = await writeMembers(join(folder, 'tree'));
    const path = join(folder, `locked.${format}`);
    await runProgram('7zz', ['a', ...args, '-psecret', path, '.'], { cwd: tree });

    expect((await failureOf(path, format)).message).toMatch(/Set the option password/);
    expect((await failureOf(path, format, { password: 'wrong' })).message).toMatch(/does not open/);
  });

  it('says that a rar has a password or lacks its other parts', async () => {
    const folder = await temporaryFolder();
    const members = [{ name: 'a.txt', data: 'text' }];
    await writeFile(join(folder, 'locked.rar'), rar5(members, { isEncrypted: true }));
    await writeFile(join(folder, 'part.rar'), rar5(members, { isVolume: true }));

    expect((await failureOf(join(folder, 'locked.rar'), 'rar')).message).toMatch(/password-protected/);
    expect((await failureOf(join(folder, 'part.rar'), 'rar')).message).toMatch(/one volume of several/);
  });
});
