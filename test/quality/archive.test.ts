import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { program } from '../engines/image/programs.ts';
import { type QualityCase, testQuality } from './case.ts';
import { only } from './readers.ts';

/** Python writes names in any encoding, and a zip's flag for UTF-8 or its field for Unicode only if told to. */
const script = `
import json, struct, sys, tarfile, zipfile, zlib
path, kind, encoding, names = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
class Named(zipfile.ZipInfo):
    def _encodeFilenameFlags(self):
        if kind == 'flag':
            return self.filename.encode(), self.flag_bits | 0x800
        return self.filename.encode(encoding, 'replace'), self.flag_bits & ~0x800
if kind == 'tar':
    import io
    with tarfile.open(path, 'w', format=tarfile.USTAR_FORMAT, encoding=encoding) as tar:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = len(name.encode())
            tar.addfile(entry, io.BytesIO(name.encode()))
else:
    with zipfile.ZipFile(path, 'w') as file:
        for name in names:
            entry = Named(name)
            entry.create_system = 0
            if kind == 'field':
                raw, text = name.encode(encoding, 'replace'), name.encode()
                entry.extra = struct.pack('<HHBI', 0x7075, 5 + len(text), 1, zlib.crc32(raw)) + text
            file.writestr(entry, name)
`;

type Kind = 'zip' | 'flag' | 'field' | 'tar';

/** Makes an archive of files that contain their own names. */
const archive =
  (encoding: string, names: string[], kind: Kind = 'zip') =>
  async (folder: string) => {
    const path = join(folder, kind === 'tar' ? 'names.tar' : 'names.zip');
    await program('/usr/bin/python3', '-c', script, path, kind, encoding, JSON.stringify(names));
    return path;
  };

/** The names in a tar by GNU tar, and the contents of all files, one after the other. */
const tarred = async (path: string) => ({
  names: (await program('tar', '--quoting-style=literal', '-tf', path)).toString().trim().split('\n'),
  contents: (await program('tar', '-xOf', path)).toString(),
});

const unsure = (encoding: string) =>
  `The archive does not say how its file names are encoded; they were read as ${encoding}. If they look wrong, set input_encoding.`;

const western = ['Grüße/Müller.txt', 'résumé.txt', 'Straße.txt'];
const japanese = ['日本語/テスト.txt', '資料.txt', '表示.txt'];
const chinese = ['中文/文件.txt', '测试文档.txt'];

const read: {
  name: string;
  encoding: string;
  names: string[];
  kind?: Kind;
  options?: Record<string, string>;
  warnings?: string[];
  usual?: true;
}[] = [
  { name: 'CP437', encoding: 'cp437', names: western, usual: true },
  { name: 'CP850', encoding: 'cp850', names: ['São João.txt', 'informação.txt'] },
  { name: 'Shift-JIS', encoding: 'cp932', names: japanese, usual: true },
  { name: 'Shift-JIS in a tar', encoding: 'cp932', names: japanese, kind: 'tar' },
  { name: 'CP866', encoding: 'cp866', names: ['Документы/Привет.txt', 'Отчёт.txt'] },
  { name: 'Windows-1251', encoding: 'cp1251', names: ['Документы/Привет.txt', 'Отчёт за год.txt'] },
  { name: 'GBK', encoding: 'gbk', names: chinese, warnings: [unsure('gb18030')] },
  { name: 'GBK on request', encoding: 'gbk', names: chinese, options: { input_encoding: 'gb18030' } },
  { name: 'EUC-KR on request', encoding: 'cp949', names: ['한국어/문서.txt'], options: { input_encoding: 'euc-kr' } },
  { name: 'UTF-8 with its flag', encoding: 'utf-8', names: [...western, ...japanese], kind: 'flag', usual: true },
  { name: 'UTF-8 without a flag', encoding: 'utf-8', names: [...western, ...japanese] },
  { name: 'the field for Unicode', encoding: 'cp437', names: japanese, kind: 'field' },
];

const named = read.map(
  ({ name, encoding, names, kind, ...rest }): QualityCase => ({
    name: `names are read as they were written: ${name}`,
    input: archive(encoding, names, kind),
    to: kind === 'tar' ? 'tar.gz' : 'tar',
    read: only(tarred),
    expected: { names, contents: names.join('') },
    ...rest,
  }),
);

/** A tar of a script, an empty folder and a link, of a known time. */
async function tree(folder: string): Promise<string> {
  const root = join(folder, 'tree');
  await mkdir(join(root, 'empty'), { recursive: true });
  await writeFile(join(root, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  await writeFile(join(root, 'data.txt'), 'data', { mode: 0o644 });
  await symlink('data.txt', join(root, 'link'));
  for (const name of ['run.sh', 'data.txt']) await utimes(join(root, name), 1_700_000_000, 1_700_000_000);
  const path = join(folder, 'tree.tar');
  await program('tar', '-C', root, '-cf', path, 'data.txt', 'run.sh', 'empty', 'link');
  return path;
}

const kept = ['-rw-r--r-- data.txt 1700000000', '-rwxr-xr-x run.sh 1700000000', 'drwxr-xr-x empty', 'lrwxrwxrwx link'];

/** The modes, names and times of what an archive unpacks to. */
const unpacked =
  (name: string, ...args: string[]) =>
  async (path: string) => {
    const folder = `${path}-unpacked`;
    await mkdir(folder);
    await program(name, ...args, path, ...(name === 'tar' ? ['-C', folder] : ['-d', folder]));
    const found = await program('find', folder, '-mindepth', '1', '-printf', '%M %P %Ts\n');
    return found
      .toString()
      .trim()
      .split('\n')
      .map((line) => (/^[dl]/.test(line) ? line.slice(0, line.lastIndexOf(' ')) : line))
      .sort();
  };

const trees: QualityCase[] = [
  { to: 'zip', reader: unpacked('unzip', '-q') },
  { to: 'tar.gz', reader: unpacked('tar', '-xzf') },
  { to: 'tar.zst', reader: unpacked('tar', '--zstd', '-xf') },
].map(({ to, reader }) => ({
  name: `times, modes, empty folders and links are kept in a ${to}`,
  input: tree,
  to,
  read: only(reader),
  expected: kept,
}));

testQuality([...named, ...trees]);
