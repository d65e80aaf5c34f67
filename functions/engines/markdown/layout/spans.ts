import { resolve } from 'node:path';
import { decodeXml } from '../../document/xml-text.ts';

/** Pixels per point in the output of pdftohtml. */
const zoom = 1.5;

export interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Text in one style. */
export interface Span extends Area {
  text: string;
  size: number;
  bold: boolean;
  italic: boolean;
  mono: boolean;
  link?: string;
  /** Its words, if their places are known. */
  words?: Word[];
  /** What a word is part of. */
  origin?: Span;
}

/** A picture on a page. */
export interface Drawn extends Area {
  file: string;
}

export interface PageText {
  number: number;
  width: number;
  height: number;
  spans: Span[];
  pictures: Drawn[];
}

interface Font {
  size: number;
  bold: boolean;
  italic: boolean;
  mono: boolean;
}

const usual: Font = { size: 11, bold: false, italic: false, mono: false };
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Reads the XML of pdftohtml. */
export function parsePages(xml: string, folder: string): PageText[] {
  // A font is declared on the first page that uses it.
  const fonts = new Map<string, Font>();
  return xml
    .split('<page ')
    .slice(1)
    .map((page) => {
      const [, number, height, width] = /^number="(\d+)"[^>]*height="([\d.]+)" width="([\d.]+)"/.exec(page) ?? [];
      for (const [, id = '', size, family = ''] of page.matchAll(
        /<fontspec id="(\d+)" size="([\d.-]+)" family="([^"]*)"/g,
      ))
        fonts.set(id, {
          size: Math.max(3, Number(size) / zoom),
          bold: /bold|black|heavy|semibold|demi/i.test(family),
          italic: /italic|oblique|slanted|-it\b/i.test(family),
          mono: /mono|courier|consol|cmtt|typewriter/i.test(family),
        });
      const spans = [
        ...page.matchAll(
          /<text top="([\d.-]+)" left="([\d.-]+)" width="([\d.-]+)" height="([\d.-]+)" font="(\d+)">(.*?)<\/text>/gs,
        ),
      ].flatMap(([, top, left, width, height, font = '', content = '']) => {
        const area = areaOf(left, top, width, height);
        return area.right > area.left ? spansOf(content, area, fonts.get(font) ?? usual) : [];
      });
      const pictures = [
        ...page.matchAll(/<image top="([\d.-]+)" left="([\d.-]+)" width="([\d.-]+)" height="([\d.-]+)" src="([^"]*)"/g),
      ].flatMap(([, top, left, width, height, src = '']) => {
        const file = resolve(folder, src);
        return file.startsWith(`${folder}/`) ? [{ ...areaOf(left, top, width, height), file }] : [];
      });
      return { number: Number(number), width: Number(width) / zoom, height: Number(height) / zoom, spans, pictures };
    });
}

function areaOf(left = '', top = '', width = '', height = ''): Area {
  const [x, y] = [Number(left) / zoom, Number(top) / zoom];
  return { left: x, top: y, right: x + Number(width) / zoom, bottom: y + Number(height) / zoom };
}

/** Splits the content of an element at its links. The places of its parts are estimated from their lengths. */
function spansOf(content: string, area: Area, font: Font): Span[] {
  const bold = font.bold || content.includes('<b>');
  const italic = font.italic || content.includes('<i>');
  const pieces = [...content.matchAll(/<a href="([^"]*)">(.*?)<\/a>|((?:(?!<a ).)+)/gs)].map(
    ([, href, linked, rest]) => ({
      text: textOf(linked ?? rest ?? ''),
      link: href === undefined ? undefined : decodeXml(href),
    }),
  );
  const total = pieces.reduce((sum, { text }) => sum + text.length, 0);
  if (total === 0) return [];
  let at = 0;
  const width = area.right - area.left;
  return pieces.map(({ text, link }) => {
    const left = area.left + (width * at) / total;
    at += text.length;
    const right = area.left + (width * at) / total;
    return {
      ...area,
      left,
      right,
      text,
      size: font.size,
      bold,
      italic,
      mono: font.mono,
      ...(link === undefined ? {} : { link }),
    };
  });
}

function textOf(markup: string): string {
  const text = decodeXml(markup.replaceAll(/<[^>]*>/g, ''))
    .replaceAll(/&#(\d{1,7});/g, (_, code) => (Number(code) <= 0x10ffff ? String.fromCodePoint(Number(code)) : ''))
    // Ligatures are letters to a reader.
    .replaceAll(/[\ufb00-\ufb06]/g, (letters) => letters.normalize('NFKC'))
    .replaceAll(/[\u00a0\u2000-\u200a\u202f]/g, ' ')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are not text
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u00ad\u200b\ufeff]/g, '')
    .toWellFormed();
  // Presentation forms are visual; the letters that they stand for are not.
  if (!rightToLeft.test(text)) return text;
  const letters = text.replaceAll(/[\ufb1d-\ufdff\ufe70-\ufefc]/g, (form) => form.normalize('NFKC'));
  // The program writes letters from the left; numbers and Latin words are in order.
  const mirrored = [...letters].reverse().join('');
  return mirrored.replaceAll(
    /[\p{Script=Latin}\p{N}](?:[\p{Script=Latin}\p{N}.,:/-]*[\p{Script=Latin}\p{N}])?/gu,
    (word) => [...word].reverse().join(''),
  );
}

/** A word where pdftotext found it. */
export interface Word extends Area {
  text: string;
}

/** Reads the words of pages in the layout that pdftotext writes. */
export function parseWords(xml: string): Word[][] {
  return xml
    .split('<page ')
    .slice(1)
    .map((page) =>
      [...page.matchAll(/<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">([^<]*)</g)].map(
        ([, left, top, right, bottom, text = '']) => ({
          left: Number(left),
          top: Number(top),
          right: Number(right),
          bottom: Number(bottom),
          text,
        }),
      ),
    );
}

/** Splits spans at the gaps between their words: pdftohtml joins the texts of cells that are close to each other. */
export function splitAtGaps(spans: readonly Span[], words: readonly Word[]): Span[] {
  const rows = new Map<number, Word[]>();
  for (const word of words) {
    const row = Math.round((word.top + word.bottom) / 8);
    rows.set(row, [...(rows.get(row) ?? []), word]);
  }
  return spans.flatMap((span) => {
    const tokens = span.text.split(/\s+/).filter((token) => token !== '');
    if (tokens.length < 2 || rightToLeft.test(span.text)) return [span];
    const row = Math.round((span.top + span.bottom) / 8);
    const own = [-1, 0, 1]
      .flatMap((offset) => rows.get(row + offset) ?? [])
      .filter((word) => {
        const x = (word.left + word.right) / 2;
        const y = (word.top + word.bottom) / 2;
        return x > span.left && x < span.right && y > span.top && y < span.bottom;
      })
      .sort((one, other) => one.left - other.left);
    if (own.length !== tokens.length && own.map(({ text }) => text).join('') !== tokens.join('')) return [span];
    const isSame = own.length === tokens.length;
    const found = own.map((word, index) => ({ ...word, text: isSame ? (tokens[index] ?? '') : word.text }));
    return splitAt({ ...span, words: found }, joiningGap);
  });
}

/** Splits a span at the gaps between its words that are wider than a number of times its size. */
function splitAt(span: Span, joining: number): Span[] {
  const pieces: (Span & { words: Word[] })[] = [];
  for (const word of span.words ?? []) {
    const last = pieces.at(-1);
    if (last && word.left - last.right < joining * span.size) {
      last.right = word.right;
      last.text += ` ${word.text}`;
      last.words.push(word);
    } else pieces.push({ ...span, left: word.left, right: word.right, text: word.text, words: [word] });
  }
  return pieces;
}

/** Returns the words of a span as spans. */
export function wordsOf(span: Span): Span[] {
  if (span.words === undefined || span.words.length < 2) return [span];
  const { words, ...style } = span;
  return words.map(({ left, right, text }) => ({ ...style, left, right, text, origin: span }));
}

/** Joins words that are next to each other in their span. */
export function rejoined(words: readonly Span[]): Span[] {
  const spans: Span[] = [];
  for (const word of words) {
    const last = spans.at(-1);
    if (last && word.origin && last.origin === word.origin)
      spans[spans.length - 1] = { ...last, right: word.right, text: `${last.text} ${word.text}` };
    else spans.push(word);
  }
  return spans;
}

/** The widest gap, in relation to the size, between words that belong together: in justified lines they are wide. */
const joiningGap = 1;

/** Returns the smallest area around others. */
export function around(areas: readonly Area[]): Area {
  const result = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { left, top, right, bottom } of areas) {
    result.left = Math.min(result.left, left);
    result.top = Math.min(result.top, top);
    result.right = Math.max(result.right, right);
    result.bottom = Math.max(result.bottom, bottom);
  }
  return result;
}

/** Spans next to each other. */
export interface Segment extends Area {
  spans: Span[];
  size: number;
  text: string;
}

/** Groups spans that are next to each other. */
export function lineGroups(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [];
  for (const span of spans.toSorted((one, other) => one.top + one.bottom - other.top - other.bottom)) {
    if (span.text === '') continue;
    // Sorted by their middles: only the last lines can be the one, and only their last spans differ from it least.
    const line = lines.slice(-6).findLast((each) => each.slice(-6).some((other) => isBeside(other, span)));
    if (line) line.push(span);
    else lines.push([span]);
  }
  return lines;
}

/** Joins spans on a line that have no gap between them that is wider than a few spaces. */
export function segmentsOf(spans: readonly Span[], joining = joiningGap): Segment[] {
  return lineGroups(spans).flatMap((line) => {
    const groups: Span[][] = [];
    let right = 0;
    for (const span of line.toSorted((one, other) => one.left - other.left)) {
      const last = groups.at(-1);
      const before = last?.findLast(({ text }) => text.trim() !== '') ?? last?.at(-1);
      const gap = Math.max(span.size, before?.size ?? 0) * joining;
      if (last && span.left - right < gap) last.push(span);
      else groups.push([span]);
      if (span.text.trim() !== '' || !last) right = Math.max(right, span.right);
    }
    return groups.flatMap((group) => {
      const segment = segmentOf(group);
      return segment ? [segment] : [];
    });
  });
}

export function segmentOf(spans: Span[]): Segment | undefined {
  const filled = spans.filter(({ text }) => text.trim() !== '');
  if (filled.length === 0) return undefined;
  const sizes = new Map<number, number>();
  for (const { size, text } of filled) sizes.set(size, (sizes.get(size) ?? 0) + text.length);
  const [size] = [...sizes].reduce((most, each) => (each[1] > most[1] ? each : most));
  const ordered = inReadingOrder(spans);
  return { ...around(filled), spans: ordered, size, text: joined(ordered) };
}

function isBeside(one: Span, other: Span): boolean {
  const overlap = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return (
    overlap > 0.5 * Math.min(one.bottom - one.top, other.bottom - other.top) && Math.abs(one.left - other.left) > 0.1
  );
}

/** Returns spans of Hebrew and Arabic from right to left. */
function inReadingOrder(spans: Span[]): Span[] {
  const isBackward =
    spans.filter(({ text }) => rightToLeft.test(text)).length * 2 >
    spans.filter(({ text }) => /\p{L}/u.test(text)).length;
  return isBackward ? spans.toReversed() : spans;
}

/** Returns the text of spans, with spaces where gaps are. */
export function joined(spans: readonly Span[]): string {
  let text = '';
  for (const [index, span] of spans.entries()) {
    if (needsSpace(spans[index - 1], span)) text += ' ';
    text += span.text;
  }
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Returns whether there is a gap between two spans of a line that their text does not show. */
export function needsSpace(before: Span | undefined, after: Span): boolean {
  if (!before || /\s$/.test(before.text) || /^\s/.test(after.text)) return false;
  const gap = Math.max(after.left - before.right, before.left - after.right);
  return gap > 0.15 * Math.min(before.size, after.size);
}
