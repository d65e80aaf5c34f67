import { RequestError, request } from '../service/request.ts';
import type { FormatList, Option, OptionList } from '../service/types.ts';

/** Formats by kind, common ones first. Aliases are not listed. */
const kinds: [title: string, formats: string][] = [
  [
    'Images',
    'jpg png webp avif gif heic svg tiff bmp ico jxl psd jp2 apng tga dds hdr exr eps ai ps emf wmf cdr icns cur qoi xcf ' +
      'cr2 cr3 nef arw dng orf raf rw2 pef srw pbm pgm ppm pam pnm pfm pcx pict xbm xpm j2k mng jng fits dpx cin sgi ' +
      'ras wbmp wpg svgz aai avs dcx epi ept ff ipl mat miff mpo mtv palm pgx pix psb ptif rgf rle sixel vicar viff vips xv ' +
      'epsi dcm blp msp im',
  ],
  [
    'Documents',
    'pdf docx odt doc rtf txt html md tex rst xhtml pages wpd odg vsdx vsd pub dotx dot ott docm dotm abw adoc docbook ' +
      'mediawiki dokuwiki wiki org textile jira ipynb jats tei texi man ms opml icml haddock muse creole twiki tikiwiki ' +
      'vimwiki xwiki zimwiki t2t fodt sxw stw fodg otg sxd vsdm vstx djvu eml msg mbox json xml',
  ],
  ['E-books', 'epub mobi azw3 fb2 lit lrf pdb htmlz txtz'],
  [
    'Slides and sheets',
    'pptx odp ppt key xlsx ods xls csv tsv numbers pptm ppsx pps potx pot otp fodp sxi xlsm xltx xlt ots fods slk sxc stc ' +
      'potm ppsm xltm gnumeric wk1',
  ],
  [
    'Video',
    'mp4 mov webm mkv hls dash avi mpg mpeg m4v wmv flv 3gp ogv ts mts m2ts vob mxf 3g2 f4v asf divx xvid dv rm swf mjpeg h264 hevc ' +
      'm2v m1v ogx wtv nut y4m ivf ismv flc fli',
  ],
  [
    'Audio',
    'mp3 wav m4a flac aac ogg opus aiff wma m4r m4b amr ac3 eac3 oga mka weba au caf mp2 wv tta ape dts spx voc gsm ' +
      'rf64 w64 aifc ra g722 adx ast mmf sf sox avr thd mlp mpc dsf dff pvf nist 8svx sph',
  ],
  [
    'Archives',
    'zip 7z tar.gz tar rar tar.bz2 tar.xz tar.zst gz bz2 xz zst cbz cb7 cbt cbr iso cab jar cpio ar arj deb rpm apk war ' +
      'xar xpi lzh lzma tar.lzma tar.z z squashfs wim',
  ],
];

const kindByFormat = new Map<string, string>();
for (const [title, list] of kinds)
  for (const format of list.split(' ')) if (!kindByFormat.has(format)) kindByFormat.set(format, title);

/** Other spellings of formats, as the service lists them. */
const canonicalNames = new Map<string, string>();

/** Returns the canonical name of a format: `jpeg` is `jpg`. */
export function canonical(format: string): string {
  return canonicalNames.get(format) ?? format;
}

/** Returns the other spellings of a format. */
export function aliasesOf(format: string): string[] {
  return [...canonicalNames].flatMap(([alias, name]) => (name === format ? [alias] : []));
}

export interface FormatGroup {
  title: string;
  formats: string[];
}

/** Groups formats by kind, common ones first. The kind of `first` leads. */
export function groupFormats(formats: string[], first = ''): FormatGroup[] {
  const left = new Set(formats);
  const groups = kinds.map(([title, list]) => {
    const own = list.split(' ').filter((format) => left.has(format) && kindByFormat.get(format) === title);
    for (const format of own) left.delete(format);
    return { title, formats: own };
  });
  const lead = kindByFormat.get(canonical(first));
  return [
    ...groups.filter(({ title }) => title === lead),
    ...groups.filter(({ title }) => title !== lead),
    { title: 'Other', formats: [...left].sort() },
  ].filter((group) => group.formats.length > 0);
}

/** Returns the formats whose name or alias contains a text, best matches first. */
export function searchFormats(formats: string[], text: string): string[] {
  const wanted = text.trim().toLowerCase().replace(/^\./, '');
  const rank = (format: string) => {
    const ranks = [format, ...aliasesOf(format)].map((name) =>
      name === wanted ? 0 : name.startsWith(wanted) ? 1 : name.includes(wanted) ? 2 : 3,
    );
    return Math.min(...ranks);
  };
  const ranked = groupFormats(formats).flatMap((group) =>
    group.formats.map((format) => [rank(format), format] as const),
  );
  return ranked
    .filter(([each]) => each < 3)
    .sort(([a], [b]) => a - b)
    .map(([, format]) => format);
}

/** Returns the output formats of an operation for an input format, none for an unknown one; `*` matches any. */
export async function outputsOf(format: string, operation = 'convert'): Promise<string[]> {
  const query = new URLSearchParams({ input_format: format });
  try {
    return formatsIn(await once<FormatList>(`/v1/query/formats/${operation}?${query}`));
  } catch (error) {
    if (error instanceof RequestError && error.status === 400) return [];
    throw error;
  }
}

/** Returns the formats that an operation reads. */
export async function inputsOf(operation: string): Promise<string[]> {
  return formatsIn(await once<FormatList>(`/v1/query/formats/${operation}?output_format=*`));
}

/** Returns the formats of a list without their aliases. */
function formatsIn({ formats }: FormatList): string[] {
  for (const { ext, alias_of: name } of formats) if (name !== undefined) canonicalNames.set(ext, name);
  return [...new Set(formats.map(({ ext }) => canonical(ext)))];
}

const known = new Map<string, Promise<unknown>>();

/** Fetches a path once while the page is open; failures are not cached. */
function once<T>(path: string): Promise<T> {
  const asked = (known.get(path) ?? request<T>('GET', path)) as Promise<T>;
  known.set(path, asked);
  asked.catch(() => known.delete(path));
  return asked;
}

/** An operation and its formats. An empty `from` matches any format; an empty `to` keeps the format. */
export interface Conversion {
  operation: string;
  from: string;
  to: string;
}

/** Returns the options of a conversion. */
export async function optionsOf({ operation, from, to }: Conversion): Promise<Option[]> {
  const query = new URLSearchParams({
    ...(from === '' ? {} : { input_format: from }),
    ...(to === '' ? {} : { output_format: to }),
  });
  return (await once<OptionList>(`/v1/query/options/${operation}?${query}`)).options;
}

const usual: Record<string, string[]> = {
  Images: ['webp', 'jpg', 'png', 'pdf', 'avif', 'gif', 'svg', 'ico'],
  Documents: ['pdf', 'docx', 'png', 'jpg', 'html', 'txt', 'epub', 'md'],
  'E-books': ['epub', 'pdf', 'azw3', 'mobi', 'docx', 'txt'],
  'Slides and sheets': ['pdf', 'csv', 'xlsx', 'pptx', 'png', 'html'],
  Video: ['mp4', 'webm', 'gif', 'mov', 'mp3', 'mkv', 'avi'],
  Audio: ['mp3', 'wav', 'flac', 'm4a', 'ogg', 'opus', 'aac'],
  Archives: ['zip', '7z', 'tar.gz', 'tar'],
};

const usualOfAny = ['pdf', 'jpg', 'png', 'webp', 'mp4', 'mp3', 'docx', 'gif'];

/** Returns the usual output formats of an input format, the likeliest first. */
export function usualOutputs(from: string, outputs: string[]): string[] {
  const source = canonical(from);
  const wanted = usual[kindByFormat.get(source) ?? ''] ?? usualOfAny;
  return wanted.filter((format) => format !== source && outputs.includes(format));
}

/** Returns the most likely output format. */
export function likelyOutput(from: string, outputs: string[]): string {
  return usualOutputs(from, outputs)[0] ?? outputs[0] ?? '';
}
