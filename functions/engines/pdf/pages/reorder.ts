import type { Operation } from '../job.ts';
import { pagesOfList } from './ranges.ts';
import { selectInOrder } from './select.ts';

/** Puts the pages of a PDF into another order. */
export const reorder: Operation = (job) =>
  selectInOrder(job, (count) => {
    const { order, rest } = job.work.options;
    const pages = pagesOfList(order === 'reverse' ? '-1-1' : order, count, 'order');
    if (rest === 'drop') return pages;
    const listed = new Set(pages);
    return [...pages, ...pagesOfList(undefined, count).filter((page) => !listed.has(page))];
  });
