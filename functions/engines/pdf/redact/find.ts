import { RE2JS } from 're2js';
import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { EngineError } from '../../runtime/engine.ts';

/** A text in pieces, each with the identifiers of what shows it. Separators have none. */
export type Piece = [text: string, ...ids: number[]];

type Find = (text: string) => [start: number, end: number][];

interface Wanted {
  find: Find;
  /** Literal texts are compared without regard to how characters are composed. */
  form: 'NFKC' | 'NFKD';
}

const maxTexts = 500;
const hidden = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const letter = /[\p{L}\p{N}\p{M}_]/u;

/** Patterns by name. Their expressions are ours, so they may be those of JavaScript. */
const patterns: Record<string, { form: RegExp; isReal?: (text: string) => boolean }> = {
  email: { form: /[\p{L}\p{N}._%+-]{1,64} ?@ ?[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu },
  iban: { form: /(?<![A-Z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}/gi, isReal: isIban },
  phone: {
    form: /(?<![\d.])(?:\+|00|\(0?\d{1,5}\)|0(?=\d))[ ()./\d-]{5,24}\d(?!\d)|(?<![\d-])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\d-])/g,
    isReal: (text) => text.replace(/\D/g, '').length >= 7 && text.replace(/\D/g, '').length <= 17,
  },
  credit_card: { form: /(?<!\d)\d(?:[ -]?\d){12,18}/g, isReal: isCard },
  ssn: { form: /(?<![\d-])\d{3}[- ]\d{2}[- ]\d{4}(?![\d-])/g },
  ip: {
    form: /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])|(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}(?::?[0-9a-f]{1,4}){1,4}(?![\w:])/gi,
  },
  url: { form: /\b(?:https?:\/\/|www\.)[^\s<>"]{3,2000}/gi },
  date: {
    form: /(?<!\d)(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-] ?\d{1,2}[./-] ?\d{2,4})(?!\d)/g,
  },
};

export const patternNames = Object.keys(patterns);

/** Finds what the options of a task want removed. Undefined if they name no text. */
export class Finder {
  readonly #wanted: Wanted[];

  private constructor(wanted: Wanted[]) {
    this.#wanted = wanted;
  }

  static of(options: OptionValues): Finder | undefined {
    const isExact = options.case_sensitive === true;
    const texts = String(options.text ?? '')
      .split(/\r?\n/)
      .map((text) => text.trim())
      .filter((text) => text !== '');
    if (texts.length > maxTexts)
      throw new EngineError(`The option text has ${texts.length} lines; the maximum is ${maxTexts}.`);
    const named = String(options.pattern ?? '')
      .split(',')
      .filter((name) => name !== '');
    const wanted: Wanted[] = [
      ...texts.map((text) => literal(text, isExact, options.whole_words === true)),
      ...named.map((name) => ofPattern(name.trim())),
      ...(options.regex === undefined ? [] : [ofExpression(String(options.regex), isExact)]),
    ];
    return wanted.length > 0 ? new Finder(wanted) : undefined;
  }

  /** Returns the identifiers of what shows each match. */
  find(pieces: Piece[]): Set<number>[] {
    return this.#matches(pieces, ({ owners }, found) =>
      found.map(([start, end]) => new Set(owners.slice(start, end).flat())),
    );
  }

  /** Returns how often a text has a match. */
  count(text: string): number {
    return this.#matches(piecesOf(text), (_, found) => found).length;
  }

  /** Returns a text without its matches, or undefined if there are none. */
  without(text: string): string | undefined {
    const pieces = [...text].map((each, index): Piece => [each, index]);
    const found = this.find(pieces);
    if (found.length === 0) return undefined;
    const removed = new Set(found.flatMap((ids) => [...ids]));
    return pieces.map(([each], index) => (removed.has(index) ? '' : each)).join('');
  }

  #matches<T>(pieces: Piece[], of: (reading: Reading, found: [number, number][]) => T[]): T[] {
    const readings = { NFKC: readingsOf(pieces, 'NFKC'), NFKD: readingsOf(pieces, 'NFKD') };
    return this.#wanted.flatMap(({ find, form }) =>
      readings[form].flatMap((reading) => of(reading, find(reading.text))),
    );
  }
}

interface Reading {
  text: string;
  /** Of each unit of the text. */
  owners: number[][];
}

function piecesOf(text: string): Piece[] {
  return [...text].map((each): Piece => [each]);
}

/** Returns a text as it may be read: with hyphens at the ends of lines, without them, and with spaced letters closed up. */
function readingsOf(pieces: Piece[], form: 'NFKC' | 'NFKD'): Reading[] {
  const plain: Reading = { text: '', owners: [] };
  let text = '';
  for (const [given, ...ids] of pieces) {
    const normal = plainOf(given, form);
    text += normal;
    for (let index = 0; index < normal.length; index++) plain.owners.push(ids);
  }
  plain.text = text;
  const variants = [
    cut(plain, / *-[ \t]*\n\s*/g, '-'),
    cut(plain, / *-[ \t]*\n\s*/g, ''),
    cut(plain, /(?<=(?<![\p{L}\p{N}])[\p{L}\p{N}])[ \u00a0]+(?=[\p{L}\p{N}](?![\p{L}\p{N}]))/gu, ''),
  ].map((each) => cut(each, /\s+/g, ' '));
  const known = new Set<string>();
  return variants.filter((each) => !known.has(each.text) && known.add(each.text));
}

function plainOf(text: string, form: 'NFKC' | 'NFKD'): string {
  return text
    .normalize(form)
    .replace(hidden, '')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018\u2019\u201b\u02bc]/g, "'")
    .replace(/[\u201c\u201d\u201e]/g, '"')
    .replace(/[\u00a0\u2000-\u200a\u202f\u3000]/g, ' ');
}

/** Replaces parts of a reading. */
function cut({ text, owners }: Reading, form: RegExp, by: string): Reading {
  const parts: string[] = [];
  const kept: number[][] = [];
  let at = 0;
  for (const { index, 0: found } of text.matchAll(form)) {
    parts.push(text.slice(at, index), by);
    for (let unit = at; unit < index; unit++) kept.push(owners[unit] ?? []);
    if (by !== '') kept.push(owners.slice(index, index + found.length).flat());
    at = index + found.length;
  }
  parts.push(text.slice(at));
  for (let unit = at; unit < owners.length; unit++) kept.push(owners[unit] ?? []);
  return { text: parts.join(''), owners: kept };
}

function literal(text: string, isExact: boolean, isWhole: boolean): Wanted {
  const words = plainOf(text, 'NFKD')
    .split(/\s+/)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  const form = new RegExp(words.join(' ?'), isExact ? 'gu' : 'giu');
  return {
    form: 'NFKD',
    find: (given) =>
      all(form, given).filter(([start, end]) => {
        // Otherwise e would match the first half of é.
        if (/^\p{M}/u.test(given.slice(end, end + 2))) return false;
        return !isWhole || !(isInWord(given, start) || isInWord(given, end));
      }),
  };
}

/** Returns whether there is no border of words at a place. */
function isInWord(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 2), at).match(/.$/u)?.[0] ?? '';
  const after = text.slice(at, at + 2).match(/^./u)?.[0] ?? '';
  return letter.test(before) && letter.test(after);
}

function all(form: RegExp, text: string): [number, number][] {
  return [...text.matchAll(form)].map(({ index, 0: found }): [number, number] => [index, index + found.length]);
}

function ofPattern(name: string): Wanted {
  const known = patterns[name];
  if (!known)
    throw new EngineError(
      `Expected names of ${patternNames.join(', ')} in pattern but received ${JSON.stringify(name)}.`,
    );
  return { form: 'NFKC', find: (text) => allOf(known, text) };
}

/** Returns the matches of a pattern. What follows a number may look like a part of it, so shorter ones are tried too. */
function allOf({ form, isReal = () => true }: (typeof patterns)[string], text: string): [number, number][] {
  const found: [number, number][] = [];
  for (form.lastIndex = 0; ; ) {
    const match = form.exec(text);
    if (!match) return found;
    const start = match.index;
    let end = form.lastIndex;
    while (end > start && !(isReal(text.slice(start, end)) && !isInWord(text, end))) end--;
    if (end > start) found.push([start, end]);
    form.lastIndex = end > start ? end : start + 1;
  }
}

/** Expressions of users run in linear time: they have no references back and no look-around. */
function ofExpression(expression: string, isExact: boolean): Wanted {
  try {
    const compiled = RE2JS.compile(expression, isExact ? 0 : RE2JS.CASE_INSENSITIVE);
    return {
      form: 'NFKC',
      find: (text) => {
        const found: [number, number][] = [];
        const matcher = compiled.matcher(text);
        while (matcher.find()) if (matcher.end() > matcher.start()) found.push([matcher.start(), matcher.end()]);
        return found;
      },
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : String(error);
    throw new EngineError(`The option regex is no expression of the RE2 syntax: ${reason}`);
  }
}

function isIban(text: string): boolean {
  if (!/^\w{4}.*\w$/.test(text)) return false;
  const plain = text.replace(/ /g, '').toUpperCase();
  if (plain.length < 15) return false;
  const moved = `${plain.slice(4)}${plain.slice(0, 4)}`.replace(/[A-Z]/g, (each) => String(each.charCodeAt(0) - 55));
  return BigInt(moved) % 97n === 1n;
}

function isCard(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  if (digits.length < 13 || !/\d$/.test(text)) return false;
  const sum = [...digits].toReversed().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
