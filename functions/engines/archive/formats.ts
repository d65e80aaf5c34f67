/** How an archive is opened: by 7-Zip with this type forced, or by libarchive if 7-Zip lacks the method or misreads names. */
export interface ArchiveReader {
  program: '7zip' | 'libarchive';
  /** 7-Zip's name of the type. It is forced, so that a file is opened only as the detected format. */
  type?: string;
  /** One compressed stream. A tar in it is opened too; anything else is the archive's only file. */
  stream?: boolean;
}

const zip: ArchiveReader = { program: '7zip', type: 'zip' };
const sevenZip: ArchiveReader = { program: '7zip', type: '7z' };
const tar: ArchiveReader = { program: '7zip', type: 'tar' };
const gzip: ArchiveReader = { program: '7zip', type: 'gzip', stream: true };
const bzip2: ArchiveReader = { program: '7zip', type: 'bzip2', stream: true };
const xz: ArchiveReader = { program: '7zip', type: 'xz', stream: true };
const zstd: ArchiveReader = { program: '7zip', type: 'zstd', stream: true };
const lzma: ArchiveReader = { program: '7zip', type: 'lzma', stream: true };
const compress: ArchiveReader = { program: '7zip', type: 'Z', stream: true };
// Debian's 7-Zip is built without the RAR methods, opens a deb's data instead of its members, and shows a xar's names encoded.
const libarchive: ArchiveReader = { program: 'libarchive' };

/** The reader of each input format. */
export const readers: Readonly<Record<string, ArchiveReader>> = {
  '7z': sevenZip,
  apk: zip,
  ar: { program: '7zip', type: 'Ar' },
  arj: { program: '7zip', type: 'arj' },
  bz2: bzip2,
  cab: { program: '7zip', type: 'cab' },
  cb7: sevenZip,
  cbr: libarchive,
  cbt: tar,
  cbz: zip,
  cpio: { program: '7zip', type: 'cpio' },
  deb: libarchive,
  gz: gzip,
  iso: { program: '7zip', type: 'iso' },
  jar: zip,
  lzh: { program: '7zip', type: 'lzh' },
  lzma,
  rar: libarchive,
  rpm: libarchive,
  squashfs: { program: '7zip', type: 'squashfs' },
  tar,
  'tar.bz2': bzip2,
  'tar.gz': gzip,
  'tar.lzma': lzma,
  'tar.xz': xz,
  'tar.z': compress,
  'tar.zst': zstd,
  war: zip,
  wim: { program: '7zip', type: 'wim' },
  xar: libarchive,
  xpi: zip,
  xz,
  z: compress,
  zip,
  zst: zstd,
};

/** Formats with encryption that the reader supports. */
export const openedWithPassword = ['7z', 'cb7', 'cbz', 'zip'];

/** How an archive is written: by libarchive in this format with this filter, or by 7-Zip. */
export interface ArchiveWriter {
  format: 'zip' | '7z' | 'pax' | 'newc';
  filter?: 'gzip' | 'bzip2' | 'xz' | 'zstd';
}

/** The writer of each output format. */
export const writers: Readonly<Record<string, ArchiveWriter>> = {
  '7z': { format: '7z' },
  cb7: { format: '7z' },
  cbt: { format: 'pax' },
  cbz: { format: 'zip' },
  cpio: { format: 'newc' },
  tar: { format: 'pax' },
  'tar.bz2': { format: 'pax', filter: 'bzip2' },
  'tar.gz': { format: 'pax', filter: 'gzip' },
  'tar.xz': { format: 'pax', filter: 'xz' },
  'tar.zst': { format: 'pax', filter: 'zstd' },
  zip: { format: 'zip' },
};
