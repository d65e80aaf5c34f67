import type { PictureText, TextBox, TextLine, Word } from '../../runtime/tesseract.ts';
import { em, hex, type InvisibleFont, widthOf, withoutSpaces } from './invisible-font.ts';

/** A character of no width would be lost. */
const minStretch = 0.01;
/** Readers join words that are closer than this part of the font size. */
const minGap = 0.2;
/** Poppler takes lines for paragraphs of their own, and columns apart, if they are further apart than 1.5 font sizes. */
const maxPitch = 1.4;
/** About six degrees. */
const maxSlope = 0.1;
const rightToLeft = /[\p{sc=Arabic}\p{sc=Hebrew}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}]/u;
const leftToRight = /[\p{Nd}\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}]/u;
const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** The picture of a page, and where it is on the displayed page: points per pixel. */
export interface Placement {
  scaleX: number;
  scaleY: number;
  /** Height of the displayed page in points. */
  height: number;
}

/**
 * Returns a content stream that shows the words of a picture as invisible text. Words that a page already has as text are
 * left out: those whose middle is in one of the boxes, given in pixels.
 */
export function textLayer(
  page: PictureText,
  placement: Placement,
  font: InvisibleFont,
  existing: TextBox[] = [],
): string {
  const shown = page.blocks
    .flatMap(({ paragraphs }) => paragraphs)
    .flatMap(({ lines, isRightToLeft }) => {
      const sizes = lines.map(({ size }) => size).toSorted((one, other) => one - other);
      const usual = sizes[Math.floor(sizes.length / 2)] ?? 0;
      const least = pitchOf(lines) / maxPitch;
      return lines.flatMap((line) => {
        const words = line.words.filter((word) => !existing.some((box) => isMiddleIn(word, box)));
        // A line that is measured much smaller than the others of its paragraph is not. Letters with marks above and below
        // count as higher than their font.
        const size = (line.size < 0.7 * usual ? usual : line.size) * (isRightToLeft ? 0.8 : 1);
        return showLine({ ...line, words, size: Math.max(size, least) }, placement, font);
      });
    });
  return shown.length > 0 ? `BT 3 Tr\n${shown.join('\n')}\nET\n` : '';
}

/** Returns the usual distance between the lines of a paragraph. Returns 0 for one line. */
function pitchOf(lines: TextLine[]): number {
  const pitches = lines.slice(1).map((line, index) => {
    const [across, down] = [line.left - (lines[index]?.left ?? 0), line.bottom - (lines[index]?.bottom ?? 0)];
    return line.angle % 180 === 0 ? Math.abs(down) : Math.abs(across);
  });
  return pitches.toSorted((one, other) => one - other)[Math.floor(pitches.length / 2)] ?? 0;
}

function isMiddleIn(word: TextBox, box: TextBox): boolean {
  const [x, y] = [(word.left + word.right) / 2, (word.top + word.bottom) / 2];
  return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
}

/** Returns whether the lines of a picture are mostly columns of text from top to bottom. */
export function isVertical({ blocks }: PictureText): boolean {
  const lines = blocks.flatMap(({ paragraphs }) => paragraphs.flatMap((paragraph) => paragraph.lines));
  const columns = lines.filter(isColumn);
  return columns.length > lines.length / 2;
}

function isColumn({ angle, words, left, right, top, bottom }: TextLine): boolean {
  return angle === 0 && words.length > 1 && bottom - top > 1.5 * (right - left);
}

interface Span {
  text: string;
  /** From the start of the line, in pixels. */
  from: number;
  to: number;
}

function showLine(line: TextLine, placement: Placement, font: InvisibleFont): string[] {
  if (line.words.length === 0) return [];
  if (isColumn(line)) return showColumn(line, placement, font);
  const { origin, direction, along, rise } = baselineOf(line);
  // Readers expect text as it is displayed: from left to right.
  const spans = line.words
    .map((word): Span => ({ text: visualOrder(word.text), ...along(word) }))
    .toSorted((one, other) => one.from - other.from);
  const size = line.size * placement.scaleY;
  const [cos, sin] = [Math.cos(direction), Math.sin(direction)];
  return withSpaces(spans, line.size * minGap).flatMap(({ text, from, to }) => {
    const codes = codesOf(text, font);
    if (codes.length === 0) return [];
    const width = (size * codes.reduce((total, code) => total + code.width, 0)) / em;
    const stretch = Math.max(minStretch, ((to - from) * placement.scaleX) / width);
    const x = (origin.x + from * cos) * placement.scaleX;
    const y = placement.height - (origin.y - from * sin - (rise * (from + to)) / 2) * placement.scaleY;
    const matrix = [cos, sin, -sin, cos, x, y].map(rounded).join(' ');
    return [
      `/H ${rounded(size)} Tf ${rounded(100 * stretch)} Tz ${matrix} Tm <${codes.map(({ code }) => hex(code)).join('')}> Tj`,
    ];
  });
}

/**
 * Returns where the baseline of a line starts, its direction counterclockwise, how words are placed along it, and by how
 * much each is above the one before. Readers take words apart that are tilted, so words of a slightly tilted line are level.
 */
function baselineOf(line: TextLine) {
  const { left, right, top, bottom, descent, baseline } = line;
  switch (line.angle) {
    case 90:
      return {
        ...{ origin: { x: right - descent, y: bottom }, direction: Math.PI / 2, rise: 0 },
        along: (word: Word) => ({ from: bottom - word.bottom, to: bottom - word.top }),
      };
    case 180:
      return {
        ...{ origin: { x: right, y: top + descent }, direction: Math.PI, rise: 0 },
        along: (word: Word) => ({ from: right - word.right, to: right - word.left }),
      };
    case 270:
      return {
        ...{ origin: { x: left + descent, y: top }, direction: -Math.PI / 2, rise: 0 },
        along: (word: Word) => ({ from: word.top - top, to: word.bottom - top }),
      };
    default: {
      const { slope, offset } = baseline;
      const drop = slope * (right - left);
      // The slope of a level line is measured as almost none.
      if (Math.abs(drop) < line.size / 4)
        return {
          ...{ origin: { x: left, y: bottom + offset + drop / 2 }, direction: 0, rise: 0 },
          along: (word: Word) => ({ from: word.left - left, to: word.right - left }),
        };
      const isStepped = Math.abs(slope) < maxSlope;
      const direction = isStepped ? 0 : -Math.atan(slope);
      const length = Math.cos(direction);
      return {
        ...{ origin: { x: left, y: bottom + offset }, direction, rise: isStepped ? -slope : 0 },
        along: (word: Word) => ({ from: (word.left - left) / length, to: (word.right - left) / length }),
      };
    }
  }
}

/** Puts a space into each gap between words. Words of scripts without spaces reach up to the next one. */
function withSpaces(spans: Span[], gap: number): Span[] {
  return spans.flatMap((span, index): Span[] => {
    const next = spans[index + 1];
    if (!next) return [span];
    const end = Math.min(span.to, Math.max(next.from - gap, (span.from + next.from) / 2));
    // A reader that takes a line from right to left apart shows its parts in the wrong order, so its gaps are narrow.
    const isNarrowed = rightToLeft.test(span.text + next.text) && next.from - end < 6 * gap;
    const to = isNarrowed ? Math.max(end, next.from - 2 * gap) : end;
    if (!isSpaced(span, next)) return [{ ...span, to: next.from > span.from ? next.from : span.to }];
    return [
      { ...span, to },
      { text: ' ', from: to, to: next.from },
    ];
  });
}

function isSpaced(one: { text: string }, next: { text: string }): boolean {
  return !withoutSpaces.test(one.text.at(-1) ?? '') || !withoutSpaces.test(next.text[0] ?? '');
}

/** Returns the text of a picture in reading order, with an empty line between paragraphs. */
export function plainText({ blocks }: PictureText): string {
  return blocks
    .flatMap(({ paragraphs }) => paragraphs)
    .filter(({ lines }) => lines.length > 0)
    .map(({ lines }) => `${lines.map(lineText).join('\n')}\n`)
    .join('\n');
}

function lineText({ words }: TextLine): string {
  return words
    .map((word, index) => {
      const next = words[index + 1];
      return next && isSpaced(word, next) ? `${word.text} ` : word.text;
    })
    .join('');
}

/** Shows a column of vertical text, character below character. */
function showColumn(line: TextLine, { scaleX, scaleY, height }: Placement, font: InvisibleFont): string[] {
  const spans = line.words.map(({ text, top, bottom }): Span => ({ text, from: top, to: bottom }));
  const width = (line.right - line.left) * scaleX;
  const x = ((line.left + line.right) / 2) * scaleX;
  return withSpaces(spans, 0).flatMap(({ text, from, to }) => {
    const codes = codesOf(text, font);
    if (codes.length === 0 || to <= from) return [];
    const step = ((to - from) * scaleY) / codes.length;
    const matrix = [width, 0, 0, step, x, height - from * scaleY].map(rounded).join(' ');
    return [`/V 1 Tf ${matrix} Tm <${codes.map(({ code }) => hex(code)).join('')}> Tj`];
  });
}

function codesOf(text: string, font: InvisibleFont): { code: number; width: number }[] {
  return [...segmenter.segment(text)].flatMap(({ segment }) => {
    const code = font.codeOf(segment);
    return code === undefined ? [] : [{ code, width: widthOf(segment) }];
  });
}

/** Reverses a word of a script from right to left, but not the numbers and foreign words in it. */
function visualOrder(text: string): string {
  if (!rightToLeft.test(text)) return text;
  const graphemes = [...segmenter.segment(text)].map(({ segment }) => segment);
  const runs: string[] = [];
  for (const [index, grapheme] of graphemes.entries()) {
    const isRun = (at: number) => leftToRight.test(graphemes[at] ?? '');
    const joins = isRun(index - 1) && (isRun(index) || (/^[.,:/-]$/.test(grapheme) && isRun(index + 1)));
    const continues = /^[.,:/-]$/.test(graphemes[index - 1] ?? '') && isRun(index) && isRun(index - 2);
    if (joins || continues) runs.push((runs.pop() ?? '') + grapheme);
    else runs.push(grapheme);
  }
  return runs.reverse().join('');
}

function rounded(value: number): string {
  return String(Number(value.toFixed(4)));
}
