import type { Style, StyledText, Widths } from './text.ts';

/** A text to be laid out in a box. */
export interface Block {
  text: string;
  style: Style;
  width: number;
  height: number;
  /** Distance to the edges. */
  inset: number;
  /** Font size; 0 if it is chosen to fit. */
  size: number;
  align: 'left' | 'center' | 'right';
  /** One line, lines that are broken, or a character in each of so many cells. */
  form: 'line' | 'lines' | { cells: number };
}

export interface Placed {
  text: StyledText;
  x: number;
  /** Of the baseline. */
  y: number;
  size: number;
}

const minSize = 4;
/** Maximum of a size that is chosen, if there are several lines. */
const usualSize = 12;
export const leading = 1.2;
/** Of Latin letters, in parts of the font size. */
const ascent = 0.74;
const descent = 0.1;
/** Distance of the first baseline to the top. */
const firstLine = 0.9;

const words = new Intl.Segmenter(undefined, { granularity: 'word' });
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Scripts that are written without spaces: their lines may be broken between words. */
const spaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const closing = /^[\p{Pe}\p{Pf}\p{Po}ー]/u;

/** Returns the parts of a text that are not broken further; spaces are parts of their own. */
function partsOf(line: string): string[] {
  const parts: string[] = [];
  for (const { segment } of words.segment(line)) {
    const last = parts.at(-1);
    const breaks =
      last === undefined ||
      /^\s/.test(segment) !== /^\s/.test(last) ||
      ((spaceless.test(last) || spaceless.test(segment)) && !closing.test(segment));
    if (breaks) parts.push(segment);
    else parts[parts.length - 1] = last + segment;
  }
  return parts;
}

export function characters(text: string): string[] {
  return [...graphemes.segment(text)].map(({ segment }) => segment);
}

/** Returns the texts that have to be measured before a block is laid out. */
export function measuredTexts({ text, style, form }: Block): StyledText[] {
  const texts =
    form === 'line' ? [text] : form === 'lines' ? [' ', ...text.split('\n').flatMap(partsOf)] : characters(text);
  return texts.map((each) => ({ text: each, style }));
}

/** Lays out a block in its box, and says whether all of it is visible. */
export function layOut(block: Block, widths: Widths): { placed: Placed[]; fits: boolean } {
  if (block.text === '') return { placed: [], fits: true };
  const { form, style } = block;
  const widthOf = (text: string) => widths.of({ text, style });
  return form === 'line'
    ? oneLine(block, widthOf)
    : form === 'lines'
      ? severalLines(block, widthOf)
      : cells(block, form.cells, widthOf);
}

type WidthOf = (text: string) => number;

function oneLine(block: Block, widthOf: WidthOf): { placed: Placed[]; fits: boolean } {
  const { text, style, width, height, inset } = block;
  const room = Math.max(1, width - 2 * inset);
  const natural = widthOf(text);
  const size = block.size || fitting(height, inset, natural > 0 ? room / natural : Number.POSITIVE_INFINITY);
  const x = alignedAt(block, natural * size);
  const placed = { text: { text, style }, x, y: centered(height, size), size };
  return { placed: [placed], fits: natural * size <= room + 1 };
}

function fitting(height: number, inset: number, widest: number): number {
  return Math.max(minSize, Math.min((height - inset) / 1.35, widest));
}

/** Returns the baseline of a line in the middle. */
function centered(height: number, size: number): number {
  return (height - (ascent - descent) * size) / 2;
}

function alignedAt({ align, width, inset }: Block, used: number): number {
  return align === 'left' ? inset : align === 'right' ? width - inset - used : (width - used) / 2;
}

function severalLines(block: Block, widthOf: WidthOf): { placed: Placed[]; fits: boolean } {
  const { text, style, width, height, inset } = block;
  const [roomX, roomY] = [Math.max(1, width - 2 * inset), Math.max(1, height - 2 * inset)];
  const paragraphs = text.split('\n').map(partsOf);
  const at = (size: number) => paragraphs.flatMap((parts) => broken(parts, roomX / size, widthOf));
  const isHigh = (lines: unknown[], size: number) => lines.length * leading * size > roomY + 1;
  let size = block.size || usualSize;
  let lines = at(size);
  while (!block.size && size > minSize && isHigh(lines, size)) {
    size -= 0.5;
    lines = at(size);
  }
  const placed = lines.flatMap((line, index): Placed[] => {
    const y = height - inset - (firstLine + index * leading) * size;
    // Lines below the box are clipped.
    if (line.text === '' || y < -size) return [];
    return [{ text: { text: line.text, style }, x: alignedAt(block, line.width * size), y, size }];
  });
  return { placed, fits: !isHigh(lines, size) };
}

interface Line {
  text: string;
  width: number;
}

/** Breaks a paragraph into lines of at most a width. */
function broken(parts: string[], room: number, widthOf: WidthOf): Line[] {
  const lines: Line[] = [];
  let line: Line = { text: '', width: 0 };
  let spaces: Line = { text: '', width: 0 };
  const end = () => {
    lines.push(line);
    line = { text: '', width: 0 };
    spaces = { text: '', width: 0 };
  };
  for (const part of parts) {
    if (/^\s/.test(part)) {
      spaces = { text: part, width: widthOf(' ') * part.length };
      continue;
    }
    const width = widthOf(part);
    if (line.text !== '' && line.width + spaces.width + width > room) end();
    if (width <= room) {
      line = { text: line.text + spaces.text + part, width: line.width + spaces.width + width };
      spaces = { text: '', width: 0 };
      continue;
    }
    const letters = characters(part);
    const perLine = Math.max(1, Math.floor((letters.length * room) / width));
    for (let start = 0; start < letters.length; start += perLine) {
      const piece = letters.slice(start, start + perLine);
      if (line.text !== '') end();
      line = { text: piece.join(''), width: (width * piece.length) / letters.length };
    }
  }
  end();
  return lines;
}

function cells(block: Block, count: number, widthOf: WidthOf): { placed: Placed[]; fits: boolean } {
  const { text, style, width, height, inset, align } = block;
  const letters = characters(text);
  const step = width / count;
  const widest = Math.max(...letters.map(widthOf), 0.1);
  const size = block.size || fitting(height, inset, step / widest);
  const free = Math.max(0, count - letters.length);
  const first = align === 'left' ? 0 : align === 'right' ? free : Math.floor(free / 2);
  const placed = letters.map((letter, index) => ({
    text: { text: letter, style },
    x: (first + index + 0.5) * step - (widthOf(letter) * size) / 2,
    y: centered(height, size),
    size,
  }));
  return { placed, fits: letters.length <= count };
}
