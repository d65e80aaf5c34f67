import type { Capability, EngineCatalogue, Format, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { detect } from './detect.ts';
import { openedWithPassword, readers, writers } from './formats.ts';
import { nameEncodings } from './names.ts';
import { components, requires } from './requires.ts';

const formats: Format[] = [
  { ext: '7z', mediaType: 'application/x-7z-compressed' },
  { ext: 'apk', mediaType: 'application/vnd.android.package-archive', contents: ['zip', 'jar'] },
  { ext: 'ar', mediaType: 'application/x-archive' },
  { ext: 'arj', mediaType: 'application/x-arj' },
  { ext: 'bz2', mediaType: 'application/x-bzip2' },
  { ext: 'cab', mediaType: 'application/vnd.ms-cab-compressed' },
  { ext: 'cb7', mediaType: 'application/x-cb7', contents: ['7z'] },
  { ext: 'cbr', mediaType: 'application/vnd.comicbook-rar', contents: ['rar'] },
  { ext: 'cbt', mediaType: 'application/x-cbt', contents: ['tar'] },
  { ext: 'cbz', mediaType: 'application/vnd.comicbook+zip', contents: ['zip'] },
  { ext: 'cpio', mediaType: 'application/x-cpio' },
  { ext: 'deb', mediaType: 'application/vnd.debian.binary-package' },
  { ext: 'gz', mediaType: 'application/gzip' },
  { ext: 'gzip', mediaType: 'application/gzip', aliasOf: 'gz' },
  { ext: 'iso', mediaType: 'application/x-iso9660-image' },
  { ext: 'jar', mediaType: 'application/java-archive', contents: ['zip'] },
  { ext: 'lha', mediaType: 'application/x-lzh-compressed', aliasOf: 'lzh' },
  { ext: 'lzh', mediaType: 'application/x-lzh-compressed' },
  { ext: 'lzma', mediaType: 'application/x-lzma' },
  { ext: 'rar', mediaType: 'application/vnd.rar' },
  { ext: 'rpm', mediaType: 'application/x-rpm' },
  { ext: 'sqfs', mediaType: 'application/vnd.squashfs', aliasOf: 'squashfs' },
  { ext: 'squashfs', mediaType: 'application/vnd.squashfs' },
  { ext: 'tar', mediaType: 'application/x-tar' },
  { ext: 'tar.bz2', mediaType: 'application/x-bzip2', contents: ['bz2'] },
  { ext: 'tar.gz', mediaType: 'application/gzip', contents: ['gz'] },
  { ext: 'tar.lzma', mediaType: 'application/x-lzma' },
  { ext: 'tar.xz', mediaType: 'application/x-xz', contents: ['xz'] },
  { ext: 'tar.z', mediaType: 'application/x-compress' },
  { ext: 'tar.zst', mediaType: 'application/zstd' },
  { ext: 'taz', mediaType: 'application/x-compress', aliasOf: 'tar.z' },
  { ext: 'tbz', mediaType: 'application/x-bzip2', aliasOf: 'tar.bz2' },
  { ext: 'tbz2', mediaType: 'application/x-bzip2', aliasOf: 'tar.bz2' },
  { ext: 'tgz', mediaType: 'application/gzip', aliasOf: 'tar.gz' },
  { ext: 'txz', mediaType: 'application/x-xz', aliasOf: 'tar.xz' },
  { ext: 'tzst', mediaType: 'application/zstd', aliasOf: 'tar.zst' },
  { ext: 'war', mediaType: 'application/java-archive', contents: ['zip', 'jar'] },
  { ext: 'wim', mediaType: 'application/x-ms-wim' },
  { ext: 'xar', mediaType: 'application/x-xar' },
  { ext: 'xpi', mediaType: 'application/x-xpinstall', contents: ['zip', 'jar'] },
  { ext: 'xz', mediaType: 'application/x-xz' },
  { ext: 'z', mediaType: 'application/x-compress' },
  { ext: 'zip', mediaType: 'application/zip' },
  { ext: 'zst', mediaType: 'application/zstd' },
  { ext: 'zstd', mediaType: 'application/zstd', aliasOf: 'zst' },
];

function compressionLevel(fallback: number, min: number): OptionDescriptor {
  return {
    name: 'compression_level',
    label: 'Compression level',
    hint: `Compression level: ${min} is ${min === 0 ? 'no compression' : 'fastest'}, 9 is smallest and slowest.`,
    data_type: 'integer',
    default_value: String(fallback),
    properties: { min, max: 9 },
  };
}

const openPassword: OptionDescriptor = {
  name: 'password',
  label: 'Archive password',
  hint: 'Password of the input, if it is encrypted.',
  data_type: 'string',
};

const setPassword: OptionDescriptor = {
  name: 'output_password',
  label: 'Output password',
  hint: 'Encrypts the output with this password (AES-256); a 7z archive hides its file names as well. By default, the output is not encrypted.',
  data_type: 'string',
  properties: { pattern: '[^\\p{Cc}]{1,128}' },
};

const inputEncoding: OptionDescriptor = {
  name: 'input_encoding',
  label: 'Encoding of names',
  hint: 'Character encoding of file names in the input that are not in UTF-8. Defaults to automatic detection.',
  data_type: 'string',
  default_value: 'auto',
  type: 'enum',
  enum_values: [
    { value: 'auto', hint: 'Detected from the names', label: 'Automatic' },
    ...nameEncodings.map(([value, hint]) => ({ value, hint })),
  ],
};

const levels: Record<string, OptionDescriptor[]> = {
  '7z': [compressionLevel(5, 0), setPassword],
  cb7: [compressionLevel(5, 0)],
  cbz: [compressionLevel(6, 0)],
  'tar.bz2': [compressionLevel(9, 1)],
  'tar.gz': [compressionLevel(6, 0)],
  'tar.xz': [compressionLevel(6, 0)],
  'tar.zst': [compressionLevel(3, 1)],
  zip: [compressionLevel(6, 0), setPassword],
};

const withAliases = (names: string[]) =>
  formats.flatMap(({ ext, aliasOf }) => (names.includes(aliasOf ?? ext) ? [ext] : []));

const lockable = withAliases(openedWithPassword);
const open = withAliases(Object.keys(readers)).filter((ext) => !lockable.includes(ext));

const capabilities = Object.keys(writers).flatMap((format): Capability[] => {
  const to = withAliases([format]);
  const options = levels[format] ?? [];
  return [
    { operation: 'convert', from: lockable, to, options: [...options, openPassword, inputEncoding] },
    { operation: 'convert', from: open, to, options: [...options, inputEncoding] },
  ];
});

export const catalogue: EngineCatalogue = {
  engine: 'archive',
  summary: 'Converts archives with 7-Zip and libarchive',
  resources: {
    packaging: 'image',
    // Files are streamed; the dictionaries of 7z and RAR may take more than a gigabyte.
    memoryMegabytes: 3008,
    // The maximum of Lambda: the disk holds the archive and its contents.
    diskMegabytes: 10_240,
    // 5 GiB at 10 MB per second, the speed of one core.
    timeoutSeconds: 600,
    typicalSeconds: 0.5,
    // An archive may unpack to 250 times its size, and the slowest packers take a second for a megabyte.
    processorTime: { baseSeconds: 1000, secondsPerMegabyte: 100 },
    // A twentieth of an account's 1,000 concurrent executions, twice: a worker waits for each engine.
    maxConcurrency: 50,
  },
  formats,
  capabilities,
  components,
  requires,
  detect,
};
