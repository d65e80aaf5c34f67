/** Poppler embeds what it shows from left to right in a line from right to left, with the punctuation next to it. */
const embedded = /\u202a([\p{P}\s]*)(.*?)([\p{P}\s]*)\u202c/gu;
const marks = /[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const cjk = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}、。「」ー]';
const spacesOfCjk = new RegExp(`(?<=${cjk}) | (?=${cjk})`, 'gu');

/** Returns the part of the characters that are wrong. How lines are broken does not matter. */
export function errorsBetween(expected: string, actual: string): number {
  const [one, other] = [expected, actual].map((text) => [...normalised(text)]);
  return distance(one ?? [], other ?? []) / (one?.length ?? 1);
}

function normalised(text: string): string {
  return text
    .replace(embedded, (_, left, middle, right) => reversed(right) + middle + reversed(left))
    .replace(marks, '')
    .normalize('NFKC')
    .replace(/\s+/g, ' ')
    .replace(spacesOfCjk, '')
    .trim();
}

function reversed(text: string): string {
  return [...text].reverse().join('');
}

/** Levenshtein distance. */
function distance(one: string[], other: string[]): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, character] of one.entries()) {
    const next = [index + 1];
    for (const [at, candidate] of other.entries())
      next.push(
        Math.min((next[at] ?? 0) + 1, (row[at + 1] ?? 0) + 1, (row[at] ?? 0) + (character === candidate ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}
