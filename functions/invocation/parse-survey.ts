import { fieldsOf, listOf, numberOf, textOf, unexpected } from '../engines/runtime/checks.ts';
import type { Survey, TargetSize } from '../engines/runtime/protocol.ts';

const maxBoundaries = 20_000;
/** A week: more than any video that fits into the disk of an engine. */
const maxSeconds = 7 * 86_400;
/** Sources may begin before zero. */
const minSeconds = -86_400;
const maxReasonCharacters = 500;

/** Returns the checked survey of a source. Other fields are dropped. */
export function surveyOf(value: unknown, textToLine: (text: string) => string): Survey {
  const { seconds, start, end, boundaries, whole, sound, size } = fieldsOf(value, 'survey');
  if (typeof sound !== 'boolean') throw unexpected('true or false for sound', sound);
  const from = numberOf(start, 'start', minSeconds, maxSeconds);
  const to = numberOf(end, 'end', from, maxSeconds);
  return {
    seconds: numberOf(seconds, 'seconds', 0, 1000 * maxSeconds),
    start: from,
    end: to,
    sound,
    ...(boundaries === undefined ? {} : { boundaries: ascending(boundaries, from, to) }),
    ...(size === undefined ? {} : { size: targetOf(size) }),
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
