import { type Area, around, lineGroups, type Span, wordsOf } from './spans.ts';

/** A line of text, in groups of words that are no further apart than words of a sentence. */
export interface Line extends Area {
  size: number;
  chunks: Chunk[];
  text: string;
}

export interface Chunk extends Area {
  /** Spans of one word each, from the left. */
  words: Span[];
  text: string;
}

/** The widest gap within a chunk, in relation to the size. */
const chunkGap = 0.5;
/** The gaps of justified lines are about the same: how much wider the widest may be than others, and than the size. */
const justified = { ofMany: 2.2, ofFew: 1.12, widestOfMany: 1.3, widestOfFew: 2.5 };
const leader = /^(?:[.·…_\s]*[.·…_]){4,}$|[.·…_]{4,}|…{2,}/;
const bullet = /^(?:[•◦▪‣●○■□➢✓∙·–—*-]|\(?(?:\d{1,3}|[a-z])[.)])$/;

/** Returns the lines of spans, from the top. */
export function linesOf(spans: readonly Span[]): Line[] {
  return lineGroups(spans)
    .flatMap((group) => {
      const words = group
        .flatMap(wordsOf)
        .filter(({ text }) => text.trim() !== '')
        .sort((one, other) => one.left - other.left);
      return words.length > 0 ? [lineOf(words)] : [];
    })
    .sort((one, other) => one.top + one.bottom - other.top - other.bottom);
}

function lineOf(words: Span[]): Line {
  const size = words.reduce((most, word) => Math.max(most, word.size), 0);
  const gaps = words.slice(1).map((word, index) => word.left - (words[index]?.right ?? 0));
  const sorted = gaps.toSorted((one, other) => one - other);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const widest = sorted.at(-1) ?? 0;
  const isJustified =
    gaps.length > 3
      ? widest < Math.min(justified.ofMany * middle, justified.widestOfMany * size)
      : gaps.length > 1 && widest < Math.min(justified.ofFew * (sorted[0] ?? 0), justified.widestOfFew * size);
  const isWhole = isJustified || words.every(({ mono }) => mono) || hasLeader(words);
  const groups: Span[][] = [];
  for (const [index, word] of words.entries()) {
    const last = groups.at(-1);
    if (last && (isWhole || (gaps[index - 1] ?? 0) < chunkGap * size)) last.push(word);
    else groups.push([word]);
  }
  const [first, second] = groups;
  // A bullet and the text of its item.
  if (groups.length === 2 && first?.length === 1 && second && bullet.test(first[0]?.text ?? ''))
    groups.splice(0, 2, [...first, ...second]);
  const chunks = groups.map(chunkOf);
  return { ...around(words), size, chunks, text: chunks.map(({ text }) => text).join(' ') };
}

/** Dots between a title and the number of its page. */
function hasLeader(words: Span[]): boolean {
  return words.some(({ text }) => leader.test(text)) || words.filter(({ text }) => /^[.·]$/.test(text)).length > 4;
}

export function chunkOf(words: Span[]): Chunk {
  return { ...around(words), words, text: words.map(({ text }) => text).join(' ') };
}
