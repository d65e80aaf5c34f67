import { EngineError } from '../../runtime/engine.ts';
import { maxPages } from '../../runtime/pages.ts';

const number = '-?\\d{1,5}';
const part = `(?:odd|even|${number}(?:-(?:${number})?)?)`;

/** Form of a list of pages. Negative numbers count from the end. */
export const rangesPattern = `${part}(?:, ?${part}){0,299}`;

const partForm = new RegExp(`^(${number})(-)?(${number})?$`);

/** Returns the pages of each range of a list such as `1-3,7,-1`. A range may descend: `-1-1` is all pages backwards. */
export function pagesOfRanges(list: string, count: number, option: string): number[][] {
  let total = 0;
  return list.split(',').map((text) => {
    const pages = pagesOfRange(text.trim(), count, option);
    total += pages.length;
    if (total > maxPages) throw new EngineError(`The option ${option} selects more than ${maxPages} pages.`);
    return pages;
  });
}

/** Returns the pages of a list in its order, or all pages if there is no list. */
export function pagesOfList(list: unknown, count: number, option = 'page_range'): number[] {
  const pages = pagesOfRanges(typeof list === 'string' && list !== '' ? list : '1-', count, option).flat();
  if (pages.length === 0) throw new EngineError(`The option ${option} selects no page of this document.`);
  return pages;
}

function pagesOfRange(text: string, count: number, option: string): number[] {
  if (text === 'odd' || text === 'even') {
    const first = text === 'odd' ? 1 : 2;
    return Array.from({ length: Math.ceil((count - first + 1) / 2) }, (_, index) => first + 2 * index);
  }
  const [, start = '', isRange, end] = partForm.exec(text) ?? [];
  const from = pageAt(start, count, option);
  // A range may end beyond the last page, as in the page_range of other operations.
  const to = isRange ? (end === undefined ? count : Math.min(pageAt(end, Infinity, option, count), count)) : from;
  const step = to < from ? -1 : 1;
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => from + step * index);
}

/** Returns the page that a number stands for. Throws if there is none. */
function pageAt(text: string, max: number, option: string, count = max): number {
  const given = Number(text);
  const page = text.startsWith('-') ? count + 1 + given : given;
  if (given === 0 || page < 1 || page > max)
    throw new EngineError(`The document has ${count} pages, so page ${given} in ${option} does not exist.`);
  return page;
}
