import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { EngineError } from '../../runtime/engine.ts';
import { type Pdf, type Programs, runTool } from '../../runtime/pdf-file.ts';

/** An area of a page as displayed, in points from its top left corner. */
export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Word extends Area {
  text: string;
}

const maxWords = 1_000_000;
const maxPageWords = 20_000;
const wordForm = /<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*)<\/word>/;

/** Returns the words of each page with their places. */
export async function readWords({ path, pages }: Pdf, space: Programs): Promise<Word[][]> {
  const file = join(space.folder, 'words.html');
  await runTool('pdftotext', ['-bbox', '-cropbox', '-enc', 'UTF-8', path, file], space);
  const found: Word[][] = [];
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (line.includes('<page ')) found.push([]);
    const [, left, top, right, bottom, text = ''] = wordForm.exec(line) ?? [];
    const page = found.at(-1);
    if (!page || text === '' || page.length >= maxPageWords) continue;
    if (++count > maxWords) throw new EngineError(`A document has more than ${maxWords} words. Compare parts of it.`);
    page.push({
      text: decoded(text).normalize('NFKC'),
      left: Number(left),
      top: Number(top),
      width: Number(right) - Number(left),
      height: Number(bottom) - Number(top),
    });
  }
  await rm(file);
  return Array.from({ length: pages }, (_, index) => found[index] ?? []);
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decoded(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});/gi, (given, name: string) => {
    const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return entities[name.toLowerCase()] ?? (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : given);
  });
}

/** Returns whether each word of two lists is in both, in order: by Myers' algorithm. */
export function commonWords(before: string[], after: string[]): { before: boolean[]; after: boolean[] } {
  const kept = { before: before.map(() => false), after: after.map(() => false) };
  let start = 0;
  let [endBefore, endAfter] = [before.length, after.length];
  const keep = (one: number, other: number) => {
    kept.before[one] = true;
    kept.after[other] = true;
  };
  while (start < endBefore && start < endAfter && before[start] === after[start]) keep(start, start++);
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1])
    keep(--endBefore, --endAfter);
  const [one, other] = [before.slice(start, endBefore), after.slice(start, endAfter)];
  for (const [x, y] of shortestEdit(one, other)) keep(start + x, start + y);
  return kept;
}

/** Lists that differ more have nothing in common: finding it would take too long. */
const maxEdits = 1_500;

function shortestEdit(one: string[], other: string[]): [number, number][] {
  const max = Math.min(one.length + other.length, maxEdits);
  const trace: Int32Array[] = [];
  const reach = new Int32Array(2 * max + 3);
  for (let edits = 0; edits <= max; edits++) {
    trace.push(reach.slice(max - edits, max + edits + 3));
    for (let line = -edits; line <= edits; line += 2) {
      const at = line + max + 1;
      const down = line === -edits || (line !== edits && (reach[at - 1] ?? 0) < (reach[at + 1] ?? 0));
      let x = down ? (reach[at + 1] ?? 0) : (reach[at - 1] ?? 0) + 1;
      let y = x - line;
      while (x < one.length && y < other.length && one[x] === other[y]) {
        x += 1;
        y += 1;
      }
      reach[at] = x;
      if (x >= one.length && y >= other.length) return walkBack(trace, one.length, other.length, edits);
    }
  }
  return [];
}

function walkBack(trace: Int32Array[], lengthOne: number, lengthOther: number, edits: number): [number, number][] {
  const pairs: [number, number][] = [];
  let [x, y] = [lengthOne, lengthOther];
  for (let step = edits; step >= 0; step--) {
    const reach = trace[step] ?? new Int32Array();
    // The slice of a step starts one below its lowest line.
    const at = (line: number) => reach[line + step + 1] ?? 0;
    const line = x - y;
    const down = line === -step || (line !== step && at(line - 1) < at(line + 1));
    const previous = down ? line + 1 : line - 1;
    const [fromX, fromY] = step === 0 ? [0, 0] : [at(previous), at(previous) - previous];
    while (x > fromX && y > fromY) pairs.push([--x, --y]);
    [x, y] = [fromX, fromY];
  }
  return pairs;
}

/** Words that follow each other and have the same fate. */
export interface Run {
  words: Word[];
  /** Index of the page, in the document that the words are from. */
  page: number;
  /** Index of the page in the other document, if the words moved there. */
  movedTo?: number;
}

const minMoved = 3;

/** Finds what was deleted on one page and inserted on another, and splits the runs accordingly. */
export function findMoves(deleted: Run[], inserted: Run[]): { deleted: Run[]; inserted: Run[] } {
  const known = new Map<string, [run: number, word: number][]>();
  for (const [index, { words }] of inserted.entries())
    for (let word = 0; word + minMoved <= words.length; word++) {
      const key = keyAt(words, word);
      known.set(key, [...(known.get(key) ?? []).slice(0, 20), [index, word]]);
    }
  const claimed = inserted.map(({ words }) => words.map((): number | undefined => undefined));
  const left = deleted.flatMap((run) => {
    const fates = run.words.map((): number | undefined => undefined);
    for (let word = 0; word + minMoved <= run.words.length; ) {
      const [index = -1, start = 0] =
        known
          .get(keyAt(run.words, word))
          ?.find(([at, from]) => claimed[at]?.slice(from, from + minMoved).every((each) => each === undefined)) ?? [];
      const target = inserted[index];
      const fate = claimed[index];
      if (!target || !fate) {
        word += 1;
        continue;
      }
      let length = 0;
      while (
        word + length < run.words.length &&
        run.words[word + length]?.text === target.words[start + length]?.text &&
        fate[start + length] === undefined
      ) {
        fates[word + length] = target.page;
        fate[start + length] = run.page;
        length += 1;
      }
      word += length;
    }
    return splitBy(run, fates);
  });
  return { deleted: left, inserted: inserted.flatMap((run, index) => splitBy(run, claimed[index] ?? [])) };
}

function keyAt(words: Word[], at: number): string {
  return words
    .slice(at, at + minMoved)
    .map(({ text }) => text)
    .join('\n');
}

function splitBy({ words, page }: Run, fates: (number | undefined)[]): Run[] {
  const runs: Run[] = [];
  for (const [index, word] of words.entries()) {
    const movedTo = fates[index];
    const last = runs.at(-1);
    if (last && last.movedTo === movedTo) last.words.push(word);
    else runs.push({ words: [word], page, ...(movedTo === undefined ? {} : { movedTo }) });
  }
  return runs;
}

/** Returns runs of the words that are not common. */
export function runsOf(words: Word[], common: boolean[], page: number): Run[] {
  const isCommon = settled(words, common);
  const runs: Run[] = [];
  for (const [index, word] of words.entries()) {
    if (isCommon[index]) continue;
    const last = runs.at(-1);
    if (last && index > 0 && !isCommon[index - 1]) last.words.push(word);
    else runs.push({ words: [word], page });
  }
  return runs;
}

/**
 * Moves runs of words that are not common to the start of a line, if they may as well start there: of `a b c a b`, either
 * `b c a` or `a b c` may be what was inserted.
 */
function settled(words: Word[], common: boolean[]): boolean[] {
  const result = [...common];
  const isSame = (one: number, other: number) => words[one]?.text === words[other]?.text;
  for (let start = 0; start < words.length; start++) {
    if (result[start] !== false) continue;
    let end = start;
    while (result[end] === false) end += 1;
    for (const step of [0, 1, -1]) {
      let [first, last] = [start, end];
      while (step !== 0 && !startsLine(words, first)) {
        const fits = step > 0 ? result[last] && isSame(first, last) : result[first - 1] && isSame(first - 1, last - 1);
        if (!fits) break;
        first += step;
        last += step;
      }
      if (!startsLine(words, first)) continue;
      result.fill(true, start, end).fill(false, first, last);
      end = Math.max(end, last);
      break;
    }
    start = end;
  }
  return result;
}

function startsLine(words: Word[], at: number): boolean {
  const [before, word] = [words[at - 1], words[at]];
  return !before || (word !== undefined && word.top - before.top > word.height / 2);
}

/** Returns the areas of words, joined by line. */
export function areasOf(words: Word[]): Area[] {
  const areas: Area[] = [];
  for (const { left, top, width, height } of words) {
    const last = areas.at(-1);
    const isSameLine =
      last &&
      Math.abs(last.top - top) < height / 2 &&
      left >= last.left &&
      left - (last.left + last.width) < 2 * height;
    if (!last || !isSameLine) {
      areas.push({ left, top, width, height });
      continue;
    }
    const bottom = Math.max(last.top + last.height, top + height);
    last.width = Math.max(last.width, left + width - last.left);
    last.top = Math.min(last.top, top);
    last.height = bottom - last.top;
  }
  return areas;
}
