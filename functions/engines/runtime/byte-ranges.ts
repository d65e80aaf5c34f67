/** Bytes of a file: from the first one to the one after the last. */
export type ByteRange = [from: number, to: number];

/** Sorts ranges, and merges those that touch or have at most `gap` bytes between them. */
export function mergedRanges(ranges: ByteRange[], gap = 0): ByteRange[] {
  const merged: ByteRange[] = [];
  for (const [from, to] of ranges.toSorted(([one], [other]) => one - other)) {
    const last = merged.at(-1);
    if (last && from <= last[1] + gap) last[1] = Math.max(last[1], to);
    else if (to > from) merged.push([from, to]);
  }
  return merged;
}

/** Returns how many bytes are in ranges that do not overlap. */
export function bytesOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from, 0);
}

/** Returns a function that says whether bytes are in one of these ranges, which are merged. */
export function coverageOf(merged: readonly ByteRange[]): (from: number, to: number) => boolean {
  return (from, to) => {
    let [low, high] = [0, merged.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((merged[middle]?.[1] ?? 0) <= from) low = middle + 1;
      else high = middle;
    }
    const range = merged[low];
    return from === to || (range !== undefined && range[0] <= from && to <= range[1]);
  };
}
