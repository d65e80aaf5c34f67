import { readFile } from 'node:fs/promises';
import type { OutputFile } from '../../functions/engines/runtime/engine.ts';
import { program } from '../engines/image/programs.ts';

/** Readers of facts. Each uses a program that no engine writes with, so that a shared mistake cannot hide. */

/** Reads the only output. */
export const only =
  <T>(read: (path: string, output: OutputFile) => T) =>
  (outputs: OutputFile[]): T => {
    const [output, ...others] = outputs;
    if (!output || others.length > 0) throw new Error(`Expected one output but received ${outputs.length}.`);
    return read(output.path, output);
  };

/** Reads each output. */
export const each =
  <T>(read: (path: string, output: OutputFile) => Promise<T>) =>
  (outputs: OutputFile[]): Promise<T[]> =>
    Promise.all(outputs.map((output) => read(output.path, output)));

/** The names of the outputs. */
export const names = async (outputs: OutputFile[]): Promise<string[]> => outputs.map(({ name }) => name);

/** Reads tags by exiftool, as numbers and texts without its own formatting; those that are missing are left out. */
export const tags =
  (...wanted: string[]) =>
  async (path: string): Promise<Record<string, unknown>> => {
    const asked = wanted.map((tag) => `-${tag}`);
    const [found = {}] = JSON.parse((await program('exiftool', '-json', '-n', ...asked, path)).toString());
    const { SourceFile: _, ...facts } = found;
    return facts;
  };

/** Reads pixels of a picture or its first frame by ImageMagick: red, green and blue from 0 to 255. */
export const pixels =
  (...points: [x: number, y: number][]) =>
  async (path: string): Promise<number[][]> =>
    Promise.all(
      points.map(async ([x, y]) => {
        const cut = ['-crop', `1x1+${x}+${y}`, '-depth', '8', 'RGB:-'];
        return [...(await program('/usr/bin/convert', `${path}[0]`, '-colorspace', 'sRGB', ...cut))];
      }),
    );

/** Reads a track list and general facts by MediaInfo: one object for each track, with the fields asked for. */
export const tracks =
  (...fields: string[]) =>
  async (path: string): Promise<Record<string, string>[]> => {
    const { media } = JSON.parse((await program('mediainfo', '--Output=JSON', path)).toString());
    return media.track.map((track: Record<string, string>) =>
      Object.fromEntries(['@type', ...fields].filter((field) => field in track).map((field) => [field, track[field]])),
    );
  };

/** Reads the text of a PDF, page by page, by MuPDF. */
export const pdfText = async (path: string): Promise<string[]> => {
  const text = (await program('mutool', 'draw', '-q', '-F', 'text', path)).toString();
  return text
    .split('\f')
    .map((page) => page.trim())
    .filter((page, index, all) => page !== '' || index < all.length - 1);
};

/** Reads the names of the fonts of a PDF by poppler. */
export const pdfFonts = async (path: string): Promise<string[]> =>
  [...(await program('pdffonts', path)).toString().matchAll(/^[A-Z]{6}\+(\S+)/gm)].map(([, name = '']) => name);

/** Reads how much of a picture, or of the first page of a PDF as MuPDF draws it, is not white, in per cent. */
export const ink = async (path: string, { format }: Pick<OutputFile, 'format'>): Promise<number> => {
  const page = `${path}.page.png`;
  if (format === 'pdf') await program('mutool', 'draw', '-q', '-r', '72', '-o', page, path, '1');
  const picture = format === 'pdf' ? page : path;
  return Number(
    await program('/usr/bin/convert', picture, '-colorspace', 'gray', '-format', '%[fx:100*(1-mean)]', 'info:'),
  );
};

/** Reads the paper of each page of a PDF by MuPDF: width x height in whole points. */
export const pdfPaper = async (path: string): Promise<string[]> => {
  const pages = (await program('mutool', 'pages', path)).toString();
  return [...pages.matchAll(/<MediaBox l="([\d.-]+)" b="([\d.-]+)" r="([\d.-]+)" t="([\d.-]+)"/g)].map(
    ([, left, bottom, right, top]) =>
      `${Math.round(Number(right) - Number(left))} x ${Math.round(Number(top) - Number(bottom))}`,
  );
};

/** Reads the bookmarks of a PDF by MuPDF: the title after a tab for each level, and the page. */
export const pdfBookmarks = async (path: string): Promise<string[]> => {
  const outline = (await program('mutool', 'show', path, 'outline')).toString();
  return [...outline.matchAll(/^[+|-](\t+)"(.*)"\t#page=(\d+)/gm)].map(
    ([, level = '', title, page]) => `${level.slice(1)}${title} > ${page}`,
  );
};

/** Reads the form fields of a PDF by qpdf: their names with their values. */
export const pdfFields = async (path: string): Promise<Record<string, unknown>> => {
  const { acroform } = JSON.parse((await program('qpdf', '--json', '--json-key=acroform', path)).toString());
  return Object.fromEntries(
    acroform.fields.map(
      ({ fullname, value, pageposfrom1 }: { fullname: string; value: unknown; pageposfrom1: number }) => [
        `${fullname} on page ${pageposfrom1}`,
        typeof value === 'string' ? value.replace(/^u:/, '') : value,
      ],
    ),
  );
};

/** Reads the named destinations of a PDF by poppler: the name and the page. */
export const pdfDestinations = async (path: string): Promise<string[]> => {
  const lines = (await program('pdfinfo', '-dests', path)).toString();
  return [...lines.matchAll(/^\s+(\d+) \[.*\] "(.*)"$/gm)].map(([, page, name]) => `${name} > ${page}`);
};

/** Reads a text file. */
export const text = (path: string): Promise<string> => readFile(path, 'utf8');

/**
 * Reads a pixel of a video at each of some times, in seconds: red, green and blue from 0 to 255. ffmpeg's decoders share
 * little with the encoders, which are libraries of their own; nothing else here shows a frame at a time.
 */
export const frames =
  (at: [x: number, y: number], ...times: number[]) =>
  async (path: string): Promise<number[][]> =>
    Promise.all(
      times.map(async (seconds) => {
        const cut = ['-frames:v', '1', '-vf', `scale=iw:ih,format=rgb24,crop=1:1:${at[0]}:${at[1]}`];
        const raw = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'];
        return [...(await program('ffmpeg', '-v', 'error', '-ss', String(seconds), '-i', path, ...cut, ...raw))];
      }),
    );

const readSheets = `
import json, openpyxl, sys
book = openpyxl.load_workbook(sys.argv[1])
print(json.dumps({sheet.title: [[cell for cell in row if cell is not None] for row in sheet.iter_rows(values_only=True)] for sheet in book}, default=str))
`;

/** Reads the sheets of an xlsx file by openpyxl: their names, and the rows of each, with texts as strings and numbers as numbers. */
export const sheets = async (path: string): Promise<Record<string, (string | number)[][]>> =>
  JSON.parse((await program('/usr/bin/python3', '-c', readSheets, path)).toString());

/** Reads facts of each picture in a file by the escapes of ImageMagick's identify. */
export const identified =
  (escapes: string) =>
  async (path: string): Promise<string[]> =>
    (await program('/usr/bin/identify', '-format', `${escapes}\\n`, path)).toString().trim().split('\n');

/** Reads the colour in the middle of each frame as it is shown, by ImageMagick: red, green, blue and opacity from 0 to 255. */
export const middles = async (path: string): Promise<number[][]> => {
  const [size = ''] = await identified('%W %H')(path);
  const [width = 0, height = 0] = size.split(' ').map(Number);
  const cut = ['-crop', `1x1+${Math.floor(width / 2)}+${Math.floor(height / 2)}`, '-depth', '8', 'RGBA:-'];
  const bytes = await program('/usr/bin/convert', path, '-coalesce', '-alpha', 'set', '-colorspace', 'sRGB', ...cut);
  return Array.from({ length: bytes.length / 4 }, (_, index) => [...bytes.subarray(index * 4, index * 4 + 4)]);
};

/** Measures how near a picture is to another one of the same content, scaled to its size, by ImageMagick: decibels of signal to noise. */
export const likeness =
  (source: string) =>
  async (path: string): Promise<number> => {
    const [size = ''] = await identified('%wx%h')(source);
    const made = await program('/usr/bin/convert', path, '-resize', `${size}!`, '-depth', '8', 'RGB:-');
    const given = await program('/usr/bin/convert', source, '-depth', '8', 'RGB:-');
    const sum = given.reduce((total, value, at) => total + (value - (made[at] ?? 0)) ** 2, 0);
    return 10 * Math.log10((255 ** 2 * given.length) / Math.max(1, sum));
  };
