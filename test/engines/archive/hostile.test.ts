import { access, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGzip, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { runProgram } from '../../../functions/engines/runtime/program.ts';
import { convert, temporaryFolder } from './convert.ts';
import { lzh, rar5, type TarMember, tar, zip } from './handmade.ts';

async function refusal(bytes: Uint8Array, format: string): Promise<{ error: unknown; folder: string }> {
  const folder = await temporaryFolder();
  const path = join(folder, `hostile.${format}`);
  await writeFile(path, bytes);
  const error = await convert(path, format, format === 'zip' ? 'tar' : 'zip').then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { error, folder };
}

async function expectRefused(bytes: Uint8Array, format: string, message: RegExp): Promise<void> {
  const { error, folder } = await refusal(bytes, format);
  expect(error).toBeInstanceOf(EngineError);
  expect(String(error)).toMatch(message);
  // Nothing of the archive remains in the task folder or next to it.
  expect((await readdir(folder, { recursive: true })).filter((name) => name.includes('planted'))).toEqual([]);
}

const outsideNames = [
  '../planted',
  'a/../../planted',
  '../../../../../../tmp/planted',
  'a/b/../../../planted',
  '..\\planted',
];
const absoluteNames = ['/tmp/planted', '//planted', 'C:\\planted', 'C:/planted', '\\planted'];

describe('hostile archives', () => {
  it.each(outsideNames)('refuses a zip, a tar, a rar and a tar.gz with the name %s', async (name) => {
    const member = { name, data: 'x' };

    await expectRefused(zip([member]), 'zip', /points outside/);
    await expectRefused(tar([member]), 'tar', /points outside/);
    await expectRefused(gzipSync(tar([member])), 'tar.gz', /points outside/);
    await expectRefused(rar5([member]), 'rar', /points outside|absolute/);
  });

  it.each(absoluteNames)('refuses a zip, a tar and an lzh with the absolute name %s', async (name) => {
    await expectRefused(zip([{ name, data: 'x' }]), 'zip', /absolute path/);
    await expectRefused(tar([{ name, data: 'x' }]), 'tar', /absolute path/);
    await expectRefused(lzh([{ name, data: 'x' }]), 'lzh', /absolute path/);
  });

  it.each(['/etc', '/etc/passwd', '..', '../..', 'a/../../b', './../x', '/proc/self/environ'])(
    'refuses symbolic links to %s',
    async (link) => {
      await expectRefused(tar([{ name: 'planted', type: '2', link }]), 'tar', /link "planted".*outside/);
      await expectRefused(
        zip([{ name: 'planted', data: link, mode: 0o120777 }]),
        'zip',
        /link|unpacked completely|damaged/,
      );
    },
  );

  it.each(['/etc/passwd', '../../../../etc/passwd', '../0'])('refuses hard links to %s', async (link) => {
    await expectRefused(tar([{ name: 'planted', type: '1', link }]), 'tar', /link "planted".*outside/);
  });

  it('refuses to write through a link, wherever it leads', async () => {
    const through: TarMember[] = [
      { name: 'door', type: '2', link: 'sub' },
      { name: 'door/planted', data: 'x' },
    ];

    await expectRefused(tar(through), 'tar', /"door" both/);
    await expectRefused(tar(through.toReversed()), 'tar', /"door" both/);
    await expectRefused(
      zip([
        { name: 'door', data: '/tmp', mode: 0o120777 },
        { name: 'door/planted', data: 'x' },
      ]),
      'zip',
      /"door" both/,
    );
  });

  it.each(['3', '4', '6'])('refuses device nodes and pipes (tar type %s)', async (type) => {
    await expectRefused(tar([{ name: 'planted', type }]), 'tar', /device or pipe/);
  });

  it('refuses a name that occurs twice, in one spelling or another', async () => {
    const twice = [
      { name: 'dir/planted', data: 'one' },
      { name: './dir//planted', data: 'two' },
    ];

    await expectRefused(zip([twice[0] ?? { name: '' }, twice[0] ?? { name: '' }]), 'zip', /"dir\/planted" twice/);
    await expectRefused(tar(twice), 'tar', /"dir\/planted" twice/);
  });

  it('keeps both of two names that differ in case alone', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'case.zip');
    await writeFile(
      path,
      zip([
        { name: 'Readme', data: 'one' },
        { name: 'README', data: 'two' },
      ]),
    );

    const output = await convert(path, 'zip', 'tar');

    const { stdout } = await runProgram('tar', ['-xOf', output.path, 'Readme', 'README'], { cwd: folder });
    expect(stdout).toBe('onetwo');
  });

  it('refuses a zip bomb by what its headers say, before unpacking', async () => {
    const claim = { data: 'x', claimedSize: 30 * 1024 ** 2 };
    const members = Array.from({ length: 12 }, (_, index) => ({ name: `${index}`, ...claim }));

    await expectRefused(zip(members), 'zip', /decompression bomb/);
  });

  it('stops a stream that unpacks without end', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'endless.gz');
    const gzip = createGzip({ level: 9 });
    const chunks: Buffer[] = [];
    gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
    const zeros = Buffer.alloc(16 * 1024 ** 2);
    for (let index = 0; index < 20; index++) await new Promise((done) => gzip.write(zeros, done));
    await new Promise<void>((done) => gzip.on('end', done).end());
    await writeFile(path, Buffer.concat(chunks));

    const error = await convert(path, 'gz', 'zip').catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(EngineError);
    expect(String(error)).toMatch(/decompression bomb/);
    await expect(access(join(folder, 'endless'))).rejects.toThrow();
  });

  it('does not open archives within the archive, however deep they go', async () => {
    const folder = await temporaryFolder();
    let nested = zip([{ name: 'zeros', data: Buffer.alloc(10 * 1024 ** 2) }]);
    for (let depth = 0; depth < 10; depth++) nested = zip([{ name: `${depth}.zip`, data: nested }]);
    const path = join(folder, 'nested.zip');
    await writeFile(path, nested);

    const output = await convert(path, 'zip', 'tar');

    const { stdout } = await runProgram('tar', ['-tf', output.path], { cwd: folder });
    expect(stdout.trim()).toBe('9.zip');
  });

  it.each([1, 10, 5_000_000])('refuses a zip whose headers claim %d bytes for other data', async (claimedSize) => {
    const data = Buffer.alloc(1_000_000, 'data');

    await expectRefused(zip([{ name: 'planted', data, claimedSize }]), 'zip', /damaged/);
  });

  it('refuses more entries than it would unpack', async () => {
    const members = Array.from({ length: 100_001 }, (_, index) => ({ name: `${index}` }));

    await expectRefused(tar(members), 'tar', /more than 100,000 entries/);
  });

  it('is not misled by line breaks in names', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'lines.tar');
    await writeFile(path, tar([{ name: 'a\nPath = ../../planted\n\nPath = /etc/b', data: 'x' }]));

    const error = await convert(path, 'tar', 'zip').then(
      () => undefined,
      (reason: unknown) => reason,
    );

    if (error !== undefined) expect(error).toBeInstanceOf(EngineError);
    await expect(access(join(folder, 'planted'))).rejects.toThrow();
  });

  it('reads a rar as a rar though its last member is a zip', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'outer.rar');
    await writeFile(path, rar5([{ name: 'inner.zip', data: zip([{ name: 'within', data: 'x' }]) }]));

    const output = await convert(path, 'rar', 'tar');

    const { stdout } = await runProgram('tar', ['-tf', output.path], { cwd: folder });
    expect(stdout.trim()).toBe('inner.zip');
  });

  it('takes away set-user bits', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'setuid.tar');
    await writeFile(path, tar([{ name: 'tool', data: 'x', mode: 0o6755 }]));

    const output = await convert(path, 'tar', 'tar.gz');

    const { stdout } = await runProgram('tar', ['-tvf', output.path], { cwd: folder });
    expect(stdout).toMatch(/^-rwxr-xr-x/);
  });
});
