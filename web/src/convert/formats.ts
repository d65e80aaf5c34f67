import { request } from '../service/request.ts';
import type { FormatList, Option, OptionList } from '../service/types.ts';

const kinds: [title: string, formats: string][] = [
  ['Images', 'jpg png webp avif gif heic heif tiff bmp ico svg jxl jp2 psd ppm tga exr hdr dds eps ai cr2 dng nef arw'],
  ['Documents', 'pdf docx doc odt rtf txt md html tex epub mobi azw3 fb2 rst pages djvu'],
  ['Slides and sheets', 'pptx ppt odp key xlsx xls ods csv tsv numbers'],
  ['Video', 'mp4 webm mov mkv avi mpg mpeg m4v wmv flv ogv 3gp ts mts vob'],
  ['Audio', 'mp3 wav flac aac m4a ogg opus wma aiff ac3 amr'],
  ['Archives', 'zip 7z tar gz tgz bz2 xz rar zst'],
];

export interface FormatGroup {
  title: string;
  formats: string[];
}

/** Groups formats by kind, common ones first. */
export function groupFormats(formats: string[]): FormatGroup[] {
  const left = new Set(formats);
  const groups = kinds.map(([title, list]) => {
    const own = list.split(' ').filter((format) => left.delete(format));
    return { title, formats: own };
  });
  return [...groups, { title: 'Other', formats: [...left].sort() }].filter((group) => group.formats.length > 0);
}

/** Returns the output formats of an operation for an input format; `*` matches any. */
export async function outputsOf(format: string, operation = 'convert'): Promise<string[]> {
  const query = new URLSearchParams({ input_format: format });
  return formatsIn(await once<FormatList>(`/v1/query/formats/${operation}?${query}`));
}

/** Returns the formats that an operation reads. */
export async function inputsOf(operation: string): Promise<string[]> {
  return formatsIn(await once<FormatList>(`/v1/query/formats/${operation}?output_format=*`));
}

function formatsIn({ formats }: FormatList): string[] {
  return formats.map(({ ext }) => ext);
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

const likely: Record<string, string[]> = {
  Images: ['webp', 'jpg', 'png', 'pdf'],
  Documents: ['pdf', 'docx', 'png', 'html'],
  'Slides and sheets': ['pdf', 'csv', 'xlsx'],
  Video: ['mp4', 'webm', 'gif'],
  Audio: ['mp3', 'wav', 'flac'],
  Archives: ['zip', '7z'],
};

/** Returns the most likely output format. */
export function likelyOutput(from: string, outputs: string[]): string {
  const kind = kinds.find(([, list]) => list.split(' ').includes(from))?.[0] ?? '';
  const wanted = (likely[kind] ?? ['pdf']).filter(
    (format) => format !== from && !(from === 'jpeg' && format === 'jpg'),
  );
  return wanted.find((format) => outputs.includes(format)) ?? outputs[0] ?? '';
}
