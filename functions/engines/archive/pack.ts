import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import type { WorkContext } from '../runtime/engine.ts';
import { runProgram } from '../runtime/program.ts';
import { type ArchiveWriter, archiveFormats } from './formats.ts';
import type { Unpacked } from './unpack.ts';

/** Packs the unpacked files and verifies the result by reading it. */
export async function pack(
  unpacked: Unpacked,
  format: string,
  options: OptionValues,
  output: string,
  context: WorkContext,
): Promise<void> {
  const writer = archiveFormats[format]?.write;
  if (!writer) throw new Error(`The catalogue lists ${format}, which this engine does not write.`);
  const password = typeof options.output_password === 'string' ? options.output_password : '';
  const level = typeof options.compression_level === 'number' ? options.compression_level : undefined;
  const paths = inOrder(unpacked);
  const packing: Packing = { root: unpacked.root, output, writer, level, password, signal: context.signal };
  if (writer.format === '7z') await packSevenZip(packing);
  else await packLibarchive(packing, paths);
  await verify(packing, paths.length);
}

interface Packing {
  root: string;
  output: string;
  writer: ArchiveWriter;
  level: number | undefined;
  password: string;
  signal: AbortSignal;
}

/** Sorts the unpacked files in the order of the original archive. */
function inOrder({ tree, order }: Unpacked): string[] {
  const rank = new Map(order.map((path, index) => [path, index]));
  // Folders that are only implied by paths of files need no entries.
  const folders = tree.folders.filter((path) => rank.has(path));
  const rankOf = (path: string) => rank.get(path) ?? order.length;
  return [...tree.files, ...folders].sort((one, other) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1));
}

async function packSevenZip({ root, output, level, password, signal }: Packing): Promise<void> {
  const encryption = password === '' ? [] : [`-p${password}`, '-mhe=on'];
  const args = ['a', '-t7z', '-snl', '-bd', `-mx=${level ?? 5}`, ...encryption, '--', output, '.'];
  await runProgram('7zz', args, { cwd: root, signal });
}

async function packLibarchive(packing: Packing, paths: string[]): Promise<void> {
  const { root, output, writer, level, password, signal } = packing;
  const list = `${output}.list`;
  // Separated by NUL, so that no name is taken for an option or for two names.
  await writeFile(list, paths.map((path) => `${path}\0`).join(''));
  const settings = [];
  if (level !== undefined) settings.push(levelSetting(writer, level));
  if (writer.filter === 'xz') settings.push('xz:threads=0');
  if (password !== '') settings.push('zip:encryption=aes256');
  const args = [
    '-c',
    ...['-f', output],
    `--format=${writer.format}`,
    ...(writer.filter ? [`--${writer.filter}`] : []),
    ...(settings.length > 0 ? ['--options', settings.join(',')] : []),
    ...(password === '' ? [] : ['--passphrase', password]),
    // Owners on this machine are meaningless for the user.
    ...['--uid', '0', '--gid', '0', '--uname', '', '--gname', ''],
    ...['--no-acls', '--no-xattrs', '--no-fflags', '--no-recursion', '--null', '-T', list],
  ];
  await runProgram('bsdtar', args, { cwd: root, signal, env: { LC_ALL: 'C.UTF-8' } });
}

function levelSetting({ format, filter }: ArchiveWriter, level: number): string {
  if (format === 'zip') return level === 0 ? 'zip:compression=store' : `zip:compression-level=${level}`;
  // zstd has levels up to 19, the others up to 9.
  if (filter === 'zstd') return `zstd:compression-level=${Math.round(1 + ((level - 1) * 18) / 8)}`;
  return `${filter}:compression-level=${level}`;
}

async function verify({ output, writer, password, signal }: Packing, expected: number): Promise<void> {
  const run = { cwd: join(output, '..'), signal, env: { LC_ALL: 'C.UTF-8' } };
  if (writer.format === '7z' || writer.format === 'zip') {
    await runProgram('7zz', ['t', '-bd', `-t${writer.format}`, `-p${password}`, '--', output], run);
    return;
  }
  let found = 0;
  await runProgram('bsdtar', ['-t', '-f', output], { ...run, onStdoutLine: () => found++ });
  if (found < expected) throw new Error(`Wrote ${expected} entries, but only ${found} can be read.`);
}
