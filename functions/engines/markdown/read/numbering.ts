import { all, attributeOf, child, type Element } from '../xml.ts';

/** How a paragraph is numbered. */
export interface Numbered {
  kind: 'bullet' | 'ordered' | 'none';
  level: number;
  number: number;
  /** The number as it is shown, such as `2.1`. Empty for bullets. */
  label: string;
}

const maxLevel = 8;

/** Counts the numbered paragraphs of a document of Word. */
export class Numbering {
  readonly #abstracts = new Map<string, Element>();
  readonly #numbers = new Map<string, Element>();
  readonly #counts = new Map<string, number[]>();
  readonly #started = new Set<string>();

  constructor(root: Element | undefined) {
    for (const each of all(root, 'w:abstractNum')) this.#abstracts.set(each.attributes['w:abstractNumId'] ?? '', each);
    for (const each of all(root, 'w:num')) this.#numbers.set(each.attributes['w:numId'] ?? '', each);
  }

  /** Returns the number of the next paragraph with these properties, or undefined if it has none. */
  next(properties: Element | undefined): Numbered | undefined {
    const id = attributeOf(properties, ['w:numId'], 'w:val');
    const number = id === undefined || id === '0' ? undefined : this.#numbers.get(id);
    if (!number || id === undefined) return undefined;
    const abstractId = attributeOf(number, ['w:abstractNumId'], 'w:val') ?? '';
    const levels = all(this.#abstracts.get(abstractId), 'w:lvl');
    const at = Number(attributeOf(properties, ['w:ilvl'], 'w:val') ?? 0);
    const level = Math.min(maxLevel, Math.max(0, Number.isInteger(at) ? at : 0));
    const override = all(number, 'w:lvlOverride').find(({ attributes }) => Number(attributes['w:ilvl']) === level);
    const definitionOf = (place: number) =>
      (place === level ? child(override, 'w:lvl') : undefined) ??
      levels.find(({ attributes }) => Number(attributes['w:ilvl']) === place);
    const definition = definitionOf(level);
    if (!definition) return undefined;
    const startOf = (place: number) => Number(attributeOf(definitionOf(place), ['w:start'], 'w:val') ?? 1);
    const counts = this.#counts.get(abstractId) ?? [];
    this.#counts.set(abstractId, counts);
    const restart = attributeOf(override, ['w:startOverride'], 'w:val');
    const isFirst = !this.#started.has(`${id} ${level}`);
    this.#started.add(`${id} ${level}`);
    counts.length = Math.min(counts.length, level + 1);
    for (let place = 0; place < level; place++) counts[place] ??= startOf(place);
    const current = counts[level];
    counts[level] =
      isFirst && restart !== undefined ? Number(restart) : current === undefined ? startOf(level) : current + 1;
    const format = attributeOf(definition, ['w:numFmt'], 'w:val') ?? 'decimal';
    const text = attributeOf(definition, ['w:lvlText'], 'w:val') ?? '';
    if (format === 'none' || text.trim() === '') return { kind: 'none', level, number: 1, label: '' };
    if (format === 'bullet') return { kind: 'bullet', level, number: 1, label: '' };
    const label = text.replaceAll(/%(\d)/g, (_, place) => {
      const index = Number(place) - 1;
      const shown = attributeOf(definitionOf(index), ['w:numFmt'], 'w:val') ?? 'decimal';
      return inFormat(counts[index] ?? 1, shown);
    });
    return { kind: 'ordered', level, number: counts[level] ?? 1, label };
  }
}

const roman: [number, string][] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
];

function inFormat(number: number, format: string): string {
  if (number < 1 || number > 3_999) return String(number);
  if (format === 'lowerLetter' || format === 'upperLetter') {
    const letter = String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.ceil(number / 26));
    return format === 'upperLetter' ? letter.toUpperCase() : letter;
  }
  if (format === 'lowerRoman' || format === 'upperRoman') {
    let rest = number;
    let text = '';
    for (const [value, letters] of roman) for (; rest >= value; rest -= value) text += letters;
    return format === 'upperRoman' ? text.toUpperCase() : text;
  }
  return String(number);
}
