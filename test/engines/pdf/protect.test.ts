import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { chapters, expectSound, folderOfFile, infoOf, only, pageTexts, runPdf } from './harness.ts';

const run = promisify(execFile);
const place = folderOfFile();
const producers = ['LibreOffice', 'Chromium', 'Ghostscript', 'pdf-lib'] as const;
let made: Awaited<ReturnType<typeof chapters>>;

beforeAll(async () => {
  made = await chapters(place.path);
});

type Options = Record<string, unknown>;
const encrypt = async (options: Options, path = made['pdf-lib']) =>
  only(await runPdf('pdf/encrypt', path, { options }));
const decrypt = (path: string, options: Options = {}) => runPdf('pdf/decrypt', path, { options });

describe('encryption', () => {
  it.each(producers)('is AES-256 that opens with either password, of %s', async (producer) => {
    const path = await encrypt({ user_password: 'open', owner_password: 'own' }, made[producer]);

    for (const password of ['open', 'own']) {
      await expectSound(path, password);
      const args = ['--decrypt', `--password=${password}`, path, place.at('plain.pdf')];
      await run('qpdf', args);
      expect(await pageTexts(place.at('plain.pdf'))).toEqual(await pageTexts(made[producer]));
    }
    expect(await pageTexts(path, 'open')).toHaveLength(4);
    expect(await infoOf(path, 'Encrypted', ['-upw', 'open'])).toMatch(/algorithm:AES-256/);
    await expect(pageTexts(path)).rejects.toThrow(/Incorrect password/);
    await expect(pageTexts(path, 'Open')).rejects.toThrow(/Incorrect password/);
    expect((await readFile(path)).includes('Chapter')).toBe(false);
  });

  const all = { print: 'yes', copy: 'yes', change: 'yes', addNotes: 'yes' };
  it.each([
    [{}, all],
    [{ print: 'none' }, { ...all, print: 'no' }],
    [{ copy: false }, { ...all, copy: 'no' }],
    [{ modify: false }, { ...all, change: 'no' }],
    [
      { annotate: false, forms: false },
      { ...all, addNotes: 'no' },
    ],
    [
      { print: 'none', copy: false, modify: false, annotate: false, forms: false },
      { print: 'no', copy: 'no', change: 'no', addNotes: 'no' },
    ],
  ])('permits readers without the owner password what it should: %j', async (options, expected) => {
    const path = await encrypt({ owner_password: 'own', ...options });

    const [, text = ''] = /\((.*) algorithm/.exec((await infoOf(path, 'Encrypted')) ?? '') ?? [];
    expect(Object.fromEntries(text.split(' ').map((entry) => entry.split(':')))).toEqual(expected);
  });

  it.each([
    [{ print: 'low' }, 'high resolution', 'low resolution'],
    [{ forms: false, annotate: false }, 'modify forms', 'print'],
    [{ annotate: false }, 'modify annotations', 'modify forms'],
    [{ modify: false }, 'document assembly', 'accessibility'],
  ])('withholds the finer permissions: %j', async (options, withheld, granted) => {
    const path = await encrypt({ owner_password: 'own', user_password: 'open', ...options });

    const { stdout } = await run('qpdf', ['--show-encryption', '--password=open', path]);
    const lines = stdout.split('\n');
    expect(lines.find((line) => line.includes(withheld))).toMatch(/not allowed/);
    expect(lines.find((line) => line.includes(granted))).toMatch(/: allowed/);
  });

  it('takes passwords in any script', async () => {
    const path = await encrypt({ user_password: 'пароль 密码 –€', owner_password: '@x --y' });

    await expectSound(path, 'пароль 密码 –€');
    expect(await pageTexts(only(await decrypt(path, { password: '@x --y' })))).toHaveLength(4);
  });

  it('replaces the encryption of a file whose password is given', async () => {
    const first = await encrypt({ user_password: 'one' });

    await expect(encrypt({ user_password: 'two' }, first)).rejects.toThrow(
      /password-protected. Set the option password/,
    );
    const second = await encrypt({ password: 'one', user_password: 'two' }, first);
    await expectSound(second, 'two');
    await expect(pageTexts(second, 'one')).rejects.toThrow(/Incorrect password/);
  });

  it.each([
    [{}, /Set user_password, owner_password, or both/],
    [{ user_password: 'a', print: 'none' }, /Set an owner_password that differs/],
    [{ user_password: 'a', owner_password: 'a', copy: false }, /Set an owner_password that differs/],
    [{ user_password: '€'.repeat(43) }, /user_password is longer than 127 bytes in UTF-8/],
    [{ user_password: 'a\nb' }, /Expected a string of the form/],
  ])('fails with what to do: %j', async (options, message) => {
    await expect(encrypt(options)).rejects.toThrow(message);
  });

  it('leaves no password in its files, messages or results', async () => {
    const secrets = { user_password: 'verysecret', owner_password: 'moresecret' };
    const result = await runPdf('pdf/encrypt', made['pdf-lib'], { options: secrets });

    expect(JSON.stringify(result)).not.toMatch(/secret/);
    const folder = dirname(only(result));
    for (const name of await readdir(folder))
      expect(await readFile(`${folder}/${name}`, 'latin1')).not.toMatch(/secret/);
  });
});

describe('decryption', () => {
  const weak = async (bits: string, options: string[] = []) => {
    const path = place.at(`weak-${bits}.pdf`);
    await run('qpdf', [
      '--allow-weak-crypto',
      '--encrypt',
      'open',
      'own',
      bits,
      ...options,
      '--',
      made.Ghostscript,
      path,
    ]);
    return path;
  };

  it.each([
    ['40', []],
    ['128', ['--use-aes=n']],
    ['128', ['--use-aes=y']],
    ['256', []],
  ])('removes an encryption of %s bits by the user or the owner password %j', async (bits, options) => {
    const path = await weak(bits, options);

    for (const password of ['open', 'own']) {
      const plain = only(await decrypt(path, { password }));
      await expectSound(plain);
      expect(await infoOf(plain, 'Encrypted')).toBe('no');
      expect(await pageTexts(plain)).toEqual(await pageTexts(made.Ghostscript));
    }
  });

  it.each(producers)('restores what was encrypted, of %s', async (producer) => {
    const locked = await encrypt({ user_password: 'open', owner_password: 'own', copy: false }, made[producer]);

    const plain = only(await decrypt(locked, { password: 'open' }));
    await expectSound(plain);
    expect(await infoOf(plain, 'Encrypted')).toBe('no');
    expect(await pageTexts(plain)).toEqual(await pageTexts(made[producer]));
  });

  it('fails clearly with a wrong password or none', async () => {
    const locked = await encrypt({ user_password: 'open', owner_password: 'own' });

    await expect(decrypt(locked)).rejects.toThrow('The PDF is password-protected. Set the option password.');
    await expect(decrypt(locked, { password: 'Open' })).rejects.toThrow('The option password does not open the PDF.');
  });

  it('says that it does not open what is encrypted for certificates', async () => {
    const path = place.at('certificate.pdf');
    const text = await readFile(made.Ghostscript, 'latin1');
    const entry = '/Encrypt << /Filter /Adobe.PubSec /SubFilter /adbe.pkcs7.s4 /V 2 /Length 128 /Recipients [<00>] >>';
    await writeFile(path, text.replace('/Root', `${entry} /Root`), 'latin1');

    await expect(decrypt(path, { password: 'x' })).rejects.toThrow(/encrypted for certificates/);
  });

  it('opens a file that only has an owner password', async () => {
    const path = await encrypt({ owner_password: 'own', print: 'none' });

    expect(await infoOf(only(await decrypt(path)), 'Encrypted')).toBe('no');
  });

  it('returns a file that is not encrypted as it is, with a warning', async () => {
    const { outputs, warnings } = await decrypt(made.Chromium);

    expect(warnings).toEqual(['The PDF was not encrypted and is unchanged.']);
    expect((await readFile(outputs[0]?.path ?? '')).equals(await readFile(made.Chromium))).toBe(true);
  });

  it.each(['pdf/split', 'pdf/extract', 'pdf/rotate', 'pdf/reorder', 'pdf/stamp'] as const)(
    'also serves %s, which says that its output is not protected',
    async (operation) => {
      const locked = await encrypt({ user_password: 'open' });

      await expect(runPdf(operation, locked)).rejects.toThrow(/Set the option password/);
      const { outputs, warnings } = await runPdf(operation, locked, { options: { password: 'open' } });
      expect(warnings).toEqual(['The output is not password-protected.']);
      await expectSound(outputs[0]?.path ?? '');
    },
  );
});
