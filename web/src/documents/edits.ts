import type { JobBody, Parameters } from '../builder/draft.ts';

/** A document whose pages are arranged. */
export interface Source {
  /** Name of its import in a job that uploads it. */
  task: string;
  /** Id of the task that imported it. */
  id: string;
  name: string;
  pages: number;
}

/** A page as arranged. */
export interface Page {
  key: number;
  source: Source;
  /** From 1. */
  number: number;
  /** Degrees by which it is turned clockwise. */
  turn: 0 | 90 | 180 | 270;
  /** Whether another file starts with it. */
  startsFile: boolean;
}

const turns = { 0: 90, 90: 180, 180: 270, 270: 0 } as const;

/** Returns the page turned by a quarter to the right. */
export function turned<P extends Page>(page: P): P {
  return { ...page, turn: turns[page.turn] };
}

/** Moves a page to another place. */
export function moved<P extends Page>(pages: P[], from: number, to: number): P[] {
  const page = pages[from];
  if (!page || to < 0 || to >= pages.length) return pages;
  return pages.toSpliced(from, 1).toSpliced(to, 0, page);
}

/**
 * Returns the job that arranges pages: it merges the documents, and then puts the pages in order, turns them and splits the
 * result, each only if needed. It reads the imported files, or uploads them.
 */
export function jobOf(pages: Page[], { uploads = false } = {}): JobBody {
  const sources = [...new Set(pages.map(({ source }) => source))];
  const tasks: Record<string, Parameters> = Object.fromEntries(
    uploads ? sources.map(({ task }) => [task, { operation: 'import/upload' }]) : [],
  );
  const [first = '', ...others] = sources.map(({ task, id }) => (uploads ? task : id));
  let last = first;
  const add = (name: string, task: Parameters) => {
    tasks[name] = task;
    last = name;
  };
  if (others.length > 0) add('merge', { operation: 'merge', input: [first, ...others], output_format: 'pdf' });
  const order = pages.map(({ source, number }) => pagesBefore(source, sources) + number);
  const count = sources.reduce((sum, source) => sum + source.pages, 0);
  if (order.length !== count || order.some((page, index) => page !== index + 1))
    add('reorder', { operation: 'pdf/reorder', input: last, options: { order: rangesOf(order), rest: 'drop' } });
  for (const angle of [90, 180, 270]) {
    const places = pages.flatMap(({ turn }, index) => (turn === angle ? [index + 1] : []));
    if (places.length > 0)
      add(`rotate-${angle}`, {
        operation: 'pdf/rotate',
        input: last,
        options: { angle, page_range: rangesOf(places) },
      });
  }
  const starts = pages.flatMap(({ startsFile }, index) => (startsFile || index === 0 ? [index + 1] : []));
  if (starts.length > 1) {
    const ranges = starts.map((first, index) => rangeOf(first, (starts[index + 1] ?? pages.length + 1) - 1));
    add('split', { operation: 'pdf/split', input: last, options: { mode: 'ranges', ranges: ranges.join(',') } });
  }
  return { tasks: { ...tasks, export: { operation: 'export/url', input: last } } };
}

function pagesBefore(source: Source, sources: Source[]): number {
  return sources.slice(0, sources.indexOf(source)).reduce((sum, { pages }) => sum + pages, 0);
}

function rangeOf(first: number, last: number): string {
  return first === last ? String(first) : `${first}-${last}`;
}

/** Returns numbers as ranges, such as `3,1-2`. */
function rangesOf(numbers: number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range && number === range[1] + 1) range[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => rangeOf(first, last)).join(',');
}
