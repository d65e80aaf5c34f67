import type { Capability, EngineCatalogue, Format, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { defined } from '../../../shared/defined.ts';
import { detect } from './detect.ts';
import { archiveFormats, writable } from './formats.ts';
import { nameEncodings } from './names.ts';
import { components, requires } from './requires.ts';

/** In alphabetical order, with the aliases. */
const formats: Format[] = Object.entries(archiveFormats)
  .flatMap(([ext, { mediaType, contents, aliases = [] }]): Format[] => [
    { ext, mediaType, ...defined({ contents }) },
    ...aliases.map((alias) => ({ ext: alias, mediaType, aliasOf: ext })),
  ])
  .sort((one, other) => (one.ext < other.ext ? -1 : 1));

function compressionLevel([byDefault, min]: [number, number]): OptionDescriptor {
  return {
    name: 'compression_level',
    label: 'Compression level',
    hint: `Compression level: ${min} is ${min === 0 ? 'no compression' : 'fastest'}, 9 is smallest and slowest.`,
    data_type: 'integer',
    default_value: String(byDefault),
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

const withAliases = (names: string[]) =>
  formats.flatMap(({ ext, aliasOf }) => (names.includes(aliasOf ?? ext) ? [ext] : []));

const all = Object.keys(archiveFormats);
const lockable = withAliases(all.filter((ext) => archiveFormats[ext]?.opensWithPassword));
const open = withAliases(all).filter((ext) => !lockable.includes(ext));

const capabilities = writable.flatMap((format): Capability[] => {
  const to = withAliases([format]);
  const level = archiveFormats[format]?.level;
  const options = [
    ...(level ? [compressionLevel(level)] : []),
    ...(format === '7z' || format === 'zip' ? [setPassword] : []),
  ];
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
