import { availableParallelism } from 'node:os';
import { EngineError } from './engine.ts';
import type { Programs } from './pdf-file.ts';
import { ProgramError, type ProgramResult, runProgram } from './program.ts';

/** The recognition of text with tesseract: one process of one thread for each picture. */

const recognitionMs = 300_000;
/** Recognition of about the densest page takes 40 s of a slow processor. */
export const secondsPerPage = 60;
const maxLanguages = 8;
/** A page of a newspaper has 10,000 words. */
const maxWords = 50_000;

/** Languages by script, if none are given. */
const languagesByScript: Record<string, string[]> = {
  Arabic: ['ara'],
  Cyrillic: ['rus'],
  Devanagari: ['hin'],
  Han: ['chi_sim'],
  Hangul: ['kor'],
  Japanese: ['jpn'],
  Korean: ['kor'],
};
const minScriptConfidence = 1;

/** In pixels from the top left corner of the picture. */
export interface TextBox {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Word extends TextBox {
  /** In logical order. */
  text: string;
  /** From 0 to 100. */
  confidence: number;
}

export interface TextLine extends TextBox {
  /** Height of the line from the bottom of `p` to the top of `d`, and the part of it below the baseline. */
  size: number;
  descent: number;
  /** Where its bottom left corner would be on the baseline, relative to the box, and by how much it falls to the right. */
  baseline: { offset: number; slope: number };
  /** Degrees counterclockwise by which the text is turned: 0, 90, 180 or 270. */
  angle: number;
  /** In reading order. */
  words: Word[];
}

export interface Paragraph extends TextBox {
  isRightToLeft: boolean;
  lines: TextLine[];
}

export interface Block extends TextBox {
  paragraphs: Paragraph[];
}

/** The text of a picture: its blocks in reading order. */
export interface PictureText {
  width: number;
  height: number;
  blocks: Block[];
}

/** The orientation of a picture and the script of its text. Confidences are ratios: 1 is a guess, 15 is certain. */
export interface Orientation {
  /** Degrees clockwise by which the picture has to be turned to be upright: 0, 90, 180 or 270. */
  rotate: number;
  confidence: number;
  script: string;
  scriptConfidence: number;
}

/** How many pictures to recognise at once. */
export const maxRecognitions: number = availableParallelism();

/** Returns the codes of the languages that are installed. */
export async function installedLanguages(space: Programs): Promise<string[]> {
  return (await findData(space)).languages;
}

/** Returns the installed languages, and the folder of their data. */
export async function findData(space: Programs): Promise<{ folder: string; languages: string[] }> {
  const { stdout } = await tesseract(['--list-langs'], space);
  const [first = '', ...lines] = stdout.split('\n').map((line) => line.trim());
  return {
    folder: /"(.*)"/.exec(first)?.[1] ?? '',
    languages: lines.filter((code) => /^[a-z]{3}(?:_\w+)?$/i.test(code) && code !== 'osd'),
  };
}

/** Returns the languages that an option names. Throws if one is not installed. */
export function chosenLanguages(option: unknown, installed: string[]): string[] | undefined {
  if (typeof option !== 'string') return undefined;
  const codes = [...new Set(option.split(/[+, ]+/).filter((code) => code !== ''))];
  if (codes.length > maxLanguages)
    throw new EngineError(`Expected at most ${maxLanguages} languages but received ${codes.length}.`);
  const missing = codes.filter((code) => !installed.includes(code));
  if (missing.length > 0)
    throw new EngineError(
      `The language ${missing.join(', ')} is not installed for the recognition of text. Installed are ${installed.join(', ')}.`,
    );
  return codes;
}

/** Returns the languages to expect in a script that was found. */
export function languagesOf(orientation: Orientation | undefined, installed: string[]): string[] {
  const isCertain = orientation !== undefined && orientation.scriptConfidence >= minScriptConfidence;
  const found = isCertain ? (languagesByScript[orientation.script] ?? []) : [];
  const usable = found.filter((code) => installed.includes(code));
  return usable.length > 0 ? usable : installed.includes('eng') ? ['eng'] : installed.slice(0, 1);
}

/** Finds the orientation and script of a picture. Returns undefined if it has too little text. */
export async function findOrientation(picture: string, dpi: number, space: Programs): Promise<Orientation | undefined> {
  // A picture without text is a failure for the program.
  const { stdout } = await tesseract([picture, 'stdout', '--psm', '0', '--dpi', resolution(dpi)], space, [0, 1]);
  const value = (name: string) => new RegExp(`^${name}: (\\S+)`, 'm').exec(stdout)?.[1];
  const rotate = Number(value('Rotate'));
  if (![0, 90, 180, 270].includes(rotate)) return undefined;
  return {
    rotate,
    confidence: Number(value('Orientation confidence') ?? 0),
    script: value('Script') ?? '',
    scriptConfidence: Number(value('Script confidence') ?? 0),
  };
}

/**
 * Finds by how many radians the lines of a picture fall to the right. Returns 0 for a picture without lines.
 */
export async function findSkew(picture: string, dpi: number, space: Programs): Promise<number> {
  const { stdout, stderr } = await tesseract(
    [picture, 'stdout', '--psm', '2', '--dpi', resolution(dpi)],
    space,
    [0, 1],
  );
  return Number(/^Deskew angle: (\S+)/m.exec(stdout + stderr)?.[1] ?? 0);
}

/** Recognises the text of a picture, which is a PNM, PNG, TIFF or JPEG file of ours in the folder. */
export async function recognise(
  picture: string,
  { languages, dpi }: { languages: string[]; dpi: number },
  space: Programs,
): Promise<PictureText> {
  const args = [picture, 'stdout', '-l', languages.join('+'), '--dpi', resolution(dpi)];
  const lines: string[] = [];
  await tesseract([...args, '-c', 'tessedit_create_hocr=1'], space, [0], (line) => lines.push(line));
  return parseHocr(lines);
}

function resolution(dpi: number): string {
  return String(Math.round(Math.min(2_400, Math.max(70, dpi))));
}

async function tesseract(
  args: string[],
  { folder, signal }: Programs,
  successCodes: number[] = [0],
  onStdoutLine?: (line: string) => void,
): Promise<ProgramResult> {
  try {
    const options = { cwd: folder, env: { OMP_THREAD_LIMIT: '1', TMPDIR: folder }, signal, successCodes };
    const listener = onStdoutLine ? { onStdoutLine } : {};
    return await runProgram('tesseract', args, { ...options, ...listener, timeoutMs: recognitionMs });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    const detail = error.stderr.trim().split('\n').slice(-5).join('\n');
    const msg = error.timedOut
      ? 'The recognition of the text of a page takes too long. Scale the page down.'
      : 'The text of a page could not be recognised.';
    throw new EngineError(msg, { detail, cause: error });
  }
}

const elementForm = /<(?:div|p|span) class='(ocr\w+)'([^>]*?)title=(["'])(.*?)\3[^>]*>(.*)/;
const lineClasses = ['ocr_line', 'ocr_header', 'ocr_caption', 'ocr_textfloat'];

/** Parses the hOCR of tesseract, which writes each element on a line of its own. */
export function parseHocr(hocr: string[]): PictureText {
  const page: PictureText = { width: 0, height: 0, blocks: [] };
  let words = 0;
  for (const line of hocr) {
    const [, kind = '', attributes = '', , title = '', content = ''] = elementForm.exec(line) ?? [];
    const block = page.blocks.at(-1);
    const paragraph = block?.paragraphs.at(-1);
    const box = boxOf(title);
    if (kind === 'ocr_page') Object.assign(page, { width: box.right, height: box.bottom });
    else if (kind === 'ocr_carea') page.blocks.push({ ...box, paragraphs: [] });
    else if (kind === 'ocr_par')
      block?.paragraphs.push({ ...box, isRightToLeft: attributes.includes("dir='rtl'"), lines: [] });
    else if (lineClasses.includes(kind)) paragraph?.lines.push(lineOf(title, box));
    else if (kind === 'ocrx_word') {
      const text = unescaped(content.slice(0, content.lastIndexOf('</span>')).replace(/<[^>]*>/g, '')).trim();
      const [confidence = 0] = numbersOf('x_wconf', title);
      if (text !== '' && words++ < maxWords) paragraph?.lines.at(-1)?.words.push({ ...box, text, confidence });
    }
  }
  for (const block of page.blocks)
    for (const paragraph of block.paragraphs) paragraph.lines = paragraph.lines.filter(({ words }) => words.length > 0);
  return page;
}

function lineOf(title: string, box: TextBox): TextLine {
  const [slope = 0, offset = 0] = numbersOf('baseline', title);
  const height = box.bottom - box.top;
  const [size = height] = numbersOf('x_size', title);
  const [descent = size / 4] = numbersOf('x_descenders', title);
  const [angle = 0] = numbersOf('textangle', title);
  return { ...box, size, descent, baseline: { offset, slope }, angle, words: [] };
}

function boxOf(title: string): TextBox {
  const [left = 0, top = 0, right = left, bottom = top] = numbersOf('bbox', title);
  return { left, top, right: Math.max(left, right), bottom: Math.max(top, bottom) };
}

function numbersOf(name: string, title: string): number[] {
  const [, values = ''] = new RegExp(`(?:^|; )${name} ([-\\d. e+]+)`).exec(title) ?? [];
  return values.split(' ').filter(Boolean).map(Number).filter(Number.isFinite);
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" };

function unescaped(text: string): string {
  return text.replace(/&(\w+|#\d+);/g, (given, name) => entities[name] ?? given);
}
