import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, type InputFile } from '../../runtime/engine.ts';
import { runProgram } from '../../runtime/program.ts';
import type { Job } from '../job.ts';

export interface TextStyle {
  color: string;
  font: string;
  /** How several lines are aligned. */
  align: 'left' | 'center' | 'right';
}

/** Font size that texts are drawn with; placing them scales them. */
export const drawnSize = 100;
const lineHeight = 1.2 * drawnSize;
/** Above the baseline of the first line and below that of the last, so that marks of one line have the same height. */
const ascent = 0.8 * drawnSize;
const descent = 0.25 * drawnSize;

export const families: Record<string, string> = {
  sans: "'Liberation Sans', 'Noto Sans', sans-serif",
  serif: "'Liberation Serif', 'Noto Serif', serif",
  mono: "'Liberation Mono', 'Noto Sans Mono', monospace",
};
export const rightToLeft =
  /^\P{L}*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Formats of pictures. */
const pictureFormats = ['png', 'jpg', 'webp', 'svg'];
const maxPicturePixels = 100_000_000;
/** More is not visible on a page. */
const maxPictureSide = 2_400;

/** Draws each text on a page of its own as large as the text. Pango shapes any script with the fonts of the system. */
export function drawTexts(texts: string[], style: TextStyle, job: Job): Promise<string> {
  const drawings = texts.map((text) => svgOf(text, style));
  return draw(drawings, ['--export-id=mark'], job);
}

function svgOf(text: string, { color, font, align }: TextStyle): string {
  const lines = text.split('\n');
  const height = (lines.length - 1) * lineHeight + ascent + descent;
  const drawn = lines.map((line, index) => {
    const isRightToLeft = rightToLeft.test(line);
    const anchor = align === 'center' ? 'middle' : (align === 'left') === isRightToLeft ? 'end' : 'start';
    const direction = isRightToLeft ? ' direction="rtl"' : '';
    return `<text y="${index * lineHeight}" text-anchor="${anchor}"${direction}>${encode(line)}</text>`;
  });
  return svg(
    `<g id="mark" xml:space="preserve" font-family="${families[font]}" font-size="${drawnSize}" fill="${color}"><rect y="${-ascent}" width="0.01" height="${height}" fill-opacity="0"/>${drawn.join('')}</g>`,
    'width="1" height="1"',
  );
}

export function svg(content: string, size: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${size}>${content}</svg>`;
}

export function encode(text: string): string {
  return text
    .toWellFormed()
    .replace(/\t/g, ' ')
    .replace(/[\p{Cc}\p{Noncharacter_Code_Point}]/gu, '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;');
}

/** Draws a picture on a page of its size. */
export async function drawPicture(picture: InputFile, job: Job): Promise<string> {
  if (!pictureFormats.includes(picture.format))
    throw new EngineError(`Expected a picture in one of ${pictureFormats.join(', ')} but received ${picture.format}.`);
  try {
    const drawing = picture.format === 'svg' ? await readFile(picture.path) : await wrapPicture(picture);
    // Only a drawing of ours may be that long.
    return await draw([drawing], picture.format === 'svg' ? [] : ['--unlimited'], job);
  } catch (cause) {
    job.signal.throwIfAborted();
    throw new EngineError('The picture could not be read: it is damaged, incomplete or too large.', { cause });
  }
}

/** Returns a drawing of an upright picture that is no larger than a page can show. */
async function wrapPicture({ path, format }: InputFile): Promise<string> {
  const { default: sharp } = await import('sharp');
  const isPhoto = format === 'jpg';
  const image = sharp(path, { limitInputPixels: maxPicturePixels, failOn: 'error' })
    .autoOrient()
    .resize({ width: maxPictureSide, height: maxPictureSide, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb');
  const { data, info } = await (isPhoto ? image.jpeg({ quality: 92 }) : image.png()).toBuffer({
    resolveWithObject: true,
  });
  const url = `data:image/${isPhoto ? 'jpeg' : 'png'};base64,${data.toString('base64')}`;
  const size = `width="${info.width}" height="${info.height}"`;
  return svg(`<image ${size} xlink:href="${url}"/>`, size);
}

/** Writes a PDF with a page for each drawing. */
export async function draw(drawings: (string | Buffer)[], args: string[], job: Job): Promise<string> {
  // A drawing may refer to files next to it, so there are none but drawings.
  const folder = await mkdtemp(join(job.folder, 'drawings-'));
  const names = drawings.map((_, index) => `${index}.svg`);
  for (const [index, drawing] of drawings.entries()) await writeFile(join(folder, names[index] ?? ''), drawing);
  const path = `${folder}.pdf`;
  await runProgram('rsvg-convert', ['--format=pdf', '--dpi-x=72', '--dpi-y=72', ...args, '-o', path, ...names], {
    cwd: folder,
    env: { TMPDIR: job.folder },
    signal: job.signal,
    timeoutMs: 120_000,
  });
  await rm(folder, { recursive: true });
  return path;
}

/** Characters that no installed font needs to have. */
const ignorable = /[\s\p{Cc}\p{Cf}\p{Variation_Selector}]/u;
const maxShown = 50;

/** Returns some of the characters that no installed font has. */
export async function missingCharacters(texts: string[], job: Job): Promise<string[]> {
  const isMissing = await missingCharacter(job);
  return [...new Set(texts.join(''))].filter(isMissing).slice(0, maxShown);
}

/** Returns whether no installed font has a character. */
export async function missingCharacter(job: Job): Promise<(character: string) => boolean> {
  const ranges = new Set<string>();
  await runProgram('fc-list', ['--format', '%{charset}\n'], {
    cwd: job.folder,
    signal: job.signal,
    timeoutMs: 20_000,
    onStdoutLine: (line) => {
      for (const range of line.split(' ')) ranges.add(range);
    },
  });
  const covered = [...ranges].map((range) => range.split('-').map((code) => Number.parseInt(code, 16)));
  return (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code <= 0x24f || ignorable.test(character)) return false;
    return !covered.some(([first = -1, last = first]) => first <= code && code <= last);
  };
}
