import type { ByteRange } from '../engines/runtime/byte-ranges.ts';
import { fieldsOf, listOf, numberOf, textOf, unexpected } from '../engines/runtime/checks.ts';
import { maxPages } from '../engines/runtime/pages.ts';
import type { SourceReads, Survey, TargetSize } from '../engines/runtime/protocol.ts';

const maxBoundaries = 20_000;
/** A week: more than any video that fits into the disk of an engine. */
const maxSeconds = 7 * 86_400;
/** Sources may begin before zero. */
const minSeconds = -86_400;
/** As many as fit into the record of a task. */
const maxRanges = { index: 2_000, sound: 8_000, join: 2_000 };
/** More than those of a week. */
const maxPictures = 1e9;
const maxReasonCharacters = 500;

/** Returns the checked survey of a source of this size. Other fields are dropped. */
export function surveyOf(value: unknown, sourceBytes: number, textToLine: (text: string) => string): Survey {
  const { seconds, start, end, boundaries, pages, whole, sound, reads, size } = fieldsOf(value, 'survey');
  if (typeof sound !== 'boolean') throw unexpected('true or false for sound', sound);
  const from = numberOf(start, 'start', minSeconds, maxSeconds);
  const to = numberOf(end, 'end', from, maxSeconds);
  const times = boundaries === undefined ? undefined : ascending(boundaries, from, to);
  return {
    seconds: numberOf(seconds, 'seconds', 0, 1000 * maxSeconds),
    start: from,
    end: to,
    sound,
    ...(times ? { boundaries: times } : {}),
    ...(times && reads !== undefined ? { reads: readsOf(reads, times.length + 2, sourceBytes) } : {}),
    ...(size === undefined ? {} : { size: targetOf(size) }),
    ...(pages === undefined ? {} : { pages: integerOf(pages, 'pages', 1, maxPages) }),
    ...(whole === undefined ? {} : { whole: textToLine(textOf(whole, 'whole')).slice(0, maxReasonCharacters) }),
  };
}

function targetOf(value: unknown): TargetSize {
  const size = fieldsOf(value, 'size');
  const bytes = numberOf(size.bytes, 'bytes', 1, Number.MAX_SAFE_INTEGER);
  return { bytes, overhead: numberOf(size.overhead, 'overhead', 0, Number.MAX_SAFE_INTEGER) };
}

function ascending(value: unknown, from: number, to: number): number[] {
  let last = Number.NEGATIVE_INFINITY;
  return listOf(value, 'boundaries', maxBoundaries, (each) => {
    const time = numberOf(each, 'a boundary', from, to);
    if (time <= last) throw unexpected('ascending boundaries', time);
    last = time;
    return time;
  });
}

function readsOf(value: unknown, count: number, size: number): SourceReads {
  const { index, from, to, pictures, sound, join } = fieldsOf(value, 'reads');
  const checked = {
    index: rangesOf(index, 'index', size),
    from: integersOf(from, 'from', count, size),
    to: integersOf(to, 'to', count, size),
    pictures: integersOf(pictures, 'pictures', count, maxPictures),
  };
  const backwards = checked.from.findIndex(
    (first, place) => first >= (checked.to[place + 1] ?? Number.POSITIVE_INFINITY),
  );
  if (backwards >= 0) throw unexpected('a chunk that ends after its start', checked.from[backwards]);
  return {
    ...checked,
    ...(sound === undefined ? {} : { sound: rangesOf(sound, 'sound', size) }),
    ...(join === undefined ? {} : { join: rangesOf(join, 'join', size) }),
  };
}

/** Returns integers that do not descend. */
function integersOf(value: unknown, name: string, count: number, max: number): number[] {
  let last = 0;
  const integers = listOf(value, name, count, (each) => {
    last = integerOf(each, name, last, max);
    return last;
  });
  if (integers.length !== count) throw unexpected(`${count} items for ${name}`, integers);
  return integers;
}

/** Returns ranges inside a file, in their order and apart from each other. */
function rangesOf(value: unknown, name: keyof typeof maxRanges, size: number): ByteRange[] {
  let last = -1;
  return listOf(value, name, maxRanges[name], (each): ByteRange => {
    const [first, end] = listOf(each, 'a range', 2, (item) => item);
    const from = integerOf(first, name, last + 1, size);
    last = integerOf(end, name, from + 1, size);
    return [from, last];
  });
}

function integerOf(value: unknown, name: string, min: number, max: number): number {
  const number = numberOf(value, name, min, max);
  if (Number.isInteger(number)) return number;
  throw unexpected(`an integer for ${name}`, value);
}
