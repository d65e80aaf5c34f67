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

/** Reads a text file. */
export const text = (path: string): Promise<string> => readFile(path, 'utf8');

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
