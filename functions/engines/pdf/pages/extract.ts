import type { Operation } from '../job.ts';
import { pagesOfList } from './ranges.ts';
import { selectInOrder } from './select.ts';

/** Makes one PDF of some pages. */
export const extract: Operation = (job) =>
  selectInOrder(job, (count) => pagesOfList(job.work.options.page_range, count), 'pages');
