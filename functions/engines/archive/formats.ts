export interface ArchiveFormat {
  mediaType: string;
  aliases?: string[];
  /** Formats that detection finds in the content. */
  contents?: string[];
  /** 7-Zip's name of the type, which is forced, so that a file is opened only as the detected format. */
  type?: string;
  /** One compressed stream. A tar in it is opened too; anything else is the archive's only file. */
  stream?: boolean;
  /** It may have encryption that the reader supports. */
  opensWithPassword?: boolean;
  /** How it is written: by 7-Zip, or by libarchive in this format with this filter. Absent if it is only read. */
  write?: ArchiveWriter;
  /** The default compression level and the minimum. */
  level?: [byDefault: number, min: number];
}

export interface ArchiveWriter {
  format: 'zip' | '7z' | 'pax' | 'newc';
  filter?: 'gzip' | 'bzip2' | 'xz' | 'zstd';
}

const gzip = { mediaType: 'application/gzip', type: 'gzip', stream: true };
const bzip2 = { mediaType: 'application/x-bzip2', type: 'bzip2', stream: true };
const xz = { mediaType: 'application/x-xz', type: 'xz', stream: true };
const zstd = { mediaType: 'application/zstd', type: 'zstd', stream: true };
const lzma = { mediaType: 'application/x-lzma', type: 'lzma', stream: true };
const compress = { mediaType: 'application/x-compress', type: 'Z', stream: true };
const sevenZip = {
  type: '7z',
  write: { format: '7z' },
  level: [5, 0],
  opensWithPassword: true,
} satisfies Partial<ArchiveFormat>;
const writableZip = {
  type: 'zip',
  write: { format: 'zip' },
  level: [6, 0],
  opensWithPassword: true,
} satisfies Partial<ArchiveFormat>;

/**
 * The formats by extension. libarchive reads those without a type: Debian's 7-Zip is built without the RAR methods, opens a
 * deb's data instead of its members, and shows a xar's names encoded.
 */
export const archiveFormats: Readonly<Record<string, ArchiveFormat>> = {
  '7z': { mediaType: 'application/x-7z-compressed', ...sevenZip },
  apk: { mediaType: 'application/vnd.android.package-archive', contents: ['zip', 'jar'], type: 'zip' },
  ar: { mediaType: 'application/x-archive', type: 'Ar' },
  arj: { mediaType: 'application/x-arj', type: 'arj' },
  bz2: bzip2,
  cab: { mediaType: 'application/vnd.ms-cab-compressed', type: 'cab' },
  cb7: { mediaType: 'application/x-cb7', contents: ['7z'], ...sevenZip },
  cbr: { mediaType: 'application/vnd.comicbook-rar', contents: ['rar'] },
  cbt: { mediaType: 'application/x-cbt', contents: ['tar'], type: 'tar', write: { format: 'pax' } },
  cbz: { mediaType: 'application/vnd.comicbook+zip', contents: ['zip'], ...writableZip },
  cpio: { mediaType: 'application/x-cpio', type: 'cpio', write: { format: 'newc' } },
  deb: { mediaType: 'application/vnd.debian.binary-package' },
  gz: { ...gzip, aliases: ['gzip'] },
  iso: { mediaType: 'application/x-iso9660-image', type: 'iso' },
  jar: { mediaType: 'application/java-archive', contents: ['zip'], type: 'zip' },
  lzh: { mediaType: 'application/x-lzh-compressed', aliases: ['lha'], type: 'lzh' },
  lzma,
  rar: { mediaType: 'application/vnd.rar' },
  rpm: { mediaType: 'application/x-rpm' },
  squashfs: { mediaType: 'application/vnd.squashfs', aliases: ['sqfs'], type: 'squashfs' },
  tar: { mediaType: 'application/x-tar', type: 'tar', write: { format: 'pax' } },
  'tar.bz2': {
    ...bzip2,
    aliases: ['tbz', 'tbz2'],
    contents: ['bz2'],
    write: { format: 'pax', filter: 'bzip2' },
    level: [9, 1],
  },
  'tar.gz': { ...gzip, aliases: ['tgz'], contents: ['gz'], write: { format: 'pax', filter: 'gzip' }, level: [6, 0] },
  'tar.lzma': lzma,
  'tar.xz': { ...xz, aliases: ['txz'], contents: ['xz'], write: { format: 'pax', filter: 'xz' }, level: [6, 0] },
  'tar.z': { ...compress, aliases: ['taz'] },
  'tar.zst': { ...zstd, aliases: ['tzst'], write: { format: 'pax', filter: 'zstd' }, level: [3, 1] },
  war: { mediaType: 'application/java-archive', contents: ['zip', 'jar'], type: 'zip' },
  wim: { mediaType: 'application/x-ms-wim', type: 'wim' },
  xar: { mediaType: 'application/x-xar' },
  xpi: { mediaType: 'application/x-xpinstall', contents: ['zip', 'jar'], type: 'zip' },
  xz,
  z: compress,
  zip: { mediaType: 'application/zip', ...writableZip },
  zst: { ...zstd, aliases: ['zstd'] },
};

/** The formats that can be written. */
export const writable = Object.keys(archiveFormats).filter((ext) => archiveFormats[ext]?.write);
