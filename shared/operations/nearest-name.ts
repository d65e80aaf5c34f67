/** Longer than any name. Clients may send names of any length. */
const maxLength = 60;

/** Returns the known name that a name is most likely a misspelling of: `outputFormat` and `output_fromat` are `output_format`. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  return nearestNames(name, known)[0];
}

/** Returns the known names that are equally close to a name, if any is similar. */
export function nearestNames(name: string, known: Iterable<string>): string[] {
  if (name.length > maxLength) return [];
  const letters = lettersOf(name);
  let nearest: string[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const other = lettersOf(candidate);
    const allowed = Math.min(2, Math.floor(Math.min(letters.length, other.length) / 3));
    if (Math.abs(letters.length - other.length) > allowed) continue;
    const distance = editDistance(letters, other);
    if (distance > allowed || distance > least) continue;
    nearest = distance < least ? [candidate] : [...nearest, candidate];
    least = distance;
  }
  return nearest;
}

/** Returns a sentence that suggests the known name, with a leading space; empty if none is similar. */
export function suggestion(name: string, known: Iterable<string>): string {
  const meant = nearestName(name, known);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** Returns whether two names are the same apart from case, dashes and underscores. */
export function isSameName(one: string, other: string): boolean {
  return lettersOf(one) === lettersOf(other);
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[-_\s]/g, '');
}

/** Counts the insertions, deletions, replacements and swaps of neighbouring letters between two names. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_value, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isExchanged = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isExchanged ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
}
