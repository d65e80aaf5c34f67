/** A page that can be recognised: by its words, or by a small picture if it has hardly any. */
export interface Fingerprint {
  words: string[];
  picture?: Uint8Array;
}

export type PagePair = [before: number | undefined, after: number | undefined];

/** Pages that are less alike are different pages. */
const minLikeness = 0.3;
const fewWords = 5;

export function isPicture({ length }: { length: number }): boolean {
  return length < fewWords;
}

/** Finds the pages that belong together, so that a page inserted in between does not make all pages after it differ. */
export function alignPages(before: Fingerprint[], after: Fingerprint[]): PagePair[] {
  const [one, other] = [before.map(shingles), after.map(shingles)];
  const isSame = (x: number, y: number) => likeness(before[x], after[y], one[x], other[y]) > 0.999;
  let start = 0;
  while (start < before.length && start < after.length && isSame(start, start)) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    isSame(before.length - 1 - end, after.length - 1 - end)
  )
    end++;
  const [rows, columns] = [before.length - start - end, after.length - start - end];
  const scores = Array.from({ length: rows + 1 }, () => new Float32Array(columns + 1));
  const likenesses = Array.from({ length: rows }, () => new Float32Array(columns));
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const value = likeness(before[start + row], after[start + column], one[start + row], other[start + column]);
      const line = likenesses[row];
      if (line) line[column] = value;
      const pair = value < minLikeness ? 0 : value + (scores[row + 1]?.[column + 1] ?? 0);
      const line2 = scores[row];
      if (line2) line2[column] = Math.max(pair, scores[row + 1]?.[column] ?? 0, line2[column + 1] ?? 0);
    }
  }
  const pairs: PagePair[] = Array.from({ length: start }, (_, index) => [index, index]);
  const gap: { before: number[]; after: number[] } = { before: [], after: [] };
  const flush = () => {
    // Pages between the same neighbours belong together, however different, if there are as many.
    const isReplaced = gap.before.length === gap.after.length;
    if (isReplaced) pairs.push(...gap.before.map((page, index): PagePair => [page, gap.after[index]]));
    else
      pairs.push(
        ...gap.before.map((page): PagePair => [page, undefined]),
        ...gap.after.map((page): PagePair => [undefined, page]),
      );
    gap.before = [];
    gap.after = [];
  };
  for (let row = 0, column = 0; row < rows || column < columns; ) {
    const value = likenesses[row]?.[column] ?? 0;
    const here = scores[row]?.[column] ?? 0;
    const pair = value + (scores[row + 1]?.[column + 1] ?? 0);
    if (row < rows && column < columns && value >= minLikeness && Math.abs(here - pair) < 1e-4) {
      flush();
      pairs.push([start + row++, start + column++]);
    } else if (row < rows && (column >= columns || (scores[row + 1]?.[column] ?? 0) >= here - 1e-4))
      gap.before.push(start + row++);
    else gap.after.push(start + column++);
  }
  flush();
  for (let index = end; index > 0; index--) pairs.push([before.length - index, after.length - index]);
  return pairs;
}

/** Returns the pairs of words that follow each other on a page. */
function shingles({ words }: Fingerprint): Set<string> {
  return new Set(words.map((word, index) => `${word} ${words[index + 1] ?? ''}`));
}

/** Returns how alike two pages are, from 0 to 1. */
function likeness(
  before: Fingerprint | undefined,
  after: Fingerprint | undefined,
  one: Set<string> = new Set(),
  other: Set<string> = new Set(),
): number {
  if (before?.picture && after?.picture) return pictureLikeness(before.picture, after.picture);
  if (one.size + other.size === 0) return 1;
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  let common = 0;
  for (const each of small) if (large.has(each)) common += 1;
  return (2 * common) / (one.size + other.size);
}

function pictureLikeness(one: Uint8Array, other: Uint8Array): number {
  let [difference, ink] = [0, 0];
  for (const [index, value] of one.entries()) {
    const another = other[index] ?? 255;
    difference += Math.abs(value - another);
    ink += 510 - value - another;
  }
  return ink === 0 ? 1 : Math.max(0, 1 - (2 * difference) / ink);
}
