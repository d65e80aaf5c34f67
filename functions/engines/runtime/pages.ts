import { withExtension } from '../../../shared/files/names.ts';
import { EngineError } from './engine.ts';

/** Maximum number of pages of a document, and of those that one task selects. */
export const maxPages = 5_000;

/** Returns the pages of the option page_range, such as `2-4,7,9-`, in order. Defaults to all pages. */
export function pagesOf(range: unknown, count: number): number[] {
  if (typeof range !== 'string' || range === '') return Array.from({ length: count }, (_, index) => index + 1);
  const pages = range.split(',').flatMap((part) => {
    const [first = '', last = first] = part.trim().split('-');
    const from = Number(first);
    const to = last === '' ? count : Number(last);
    if (from < 1 || from > to)
      throw new EngineError(`Expected ascending pages in page_range but received ${JSON.stringify(part)}.`);
    if (from > count)
      throw new EngineError(`The document has ${count} pages, so page ${from} in page_range does not exist.`);
    return Array.from({ length: Math.min(to, count) - from + 1 }, (_, index) => from + index);
  });
  if (pages.length > maxPages) throw new EngineError(`The option page_range selects more than ${maxPages} pages.`);
  return pages;
}

/** Returns the name of the file of a page, if there are several. Names sort by page. */
export function pageFileName(name: string, format: string, page: number, count: number): string {
  return withExtension(name, format, pageSuffix(page, count));
}

/** Returns a page number with as many digits as the last page has. */
export function pageSuffix(page: number, count: number): string {
  return String(page).padStart(String(count).length, '0');
}
