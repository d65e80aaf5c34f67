import { describe, expect, it } from 'vitest';
import { jobOf, moved, type Page, turned } from '../../../web/src/documents/edits.ts';

const first = { task: 'file-1', id: 'a1', name: 'a.pdf', pages: 3 };
const second = { task: 'file-2', id: 'b2', name: 'b.pdf', pages: 2 };
const pagesOf = (source: typeof first, from = 0): Page[] =>
  Array.from({ length: source.pages }, (_, index) => ({
    key: from + index,
    source,
    number: index + 1,
    turn: 0,
    startsFile: false,
  }));

describe('the job that arranges pages', () => {
  it('exports a document that is as it was', () => {
    expect(jobOf(pagesOf(first))).toEqual({ tasks: { export: { operation: 'export/url', input: 'a1' } } });
  });

  it('merges, orders, turns and splits, in this order', () => {
    const all = moved([...pagesOf(first), ...pagesOf(second, 3)], 4, 0).toSpliced(2, 1);
    const pages = all.map((page, index) => (index === 1 ? turned(page) : { ...page, startsFile: index === 2 }));
    expect(jobOf(pages, { uploads: true })).toEqual({
      tasks: {
        'file-2': { operation: 'import/upload' },
        'file-1': { operation: 'import/upload' },
        merge: { operation: 'merge', input: ['file-2', 'file-1'], output_format: 'pdf' },
        reorder: { operation: 'pdf/reorder', input: 'merge', options: { order: '2-3,5,1', rest: 'drop' } },
        'rotate-90': { operation: 'pdf/rotate', input: 'reorder', options: { angle: 90, page_range: '2' } },
        split: { operation: 'pdf/split', input: 'rotate-90', options: { mode: 'ranges', ranges: '1-2,3-4' } },
        export: { operation: 'export/url', input: 'split' },
      },
    });
  });

  it('takes a page four times around to where it was', () => {
    const [page] = pagesOf(first);
    if (!page) throw new Error('There is no page.');
    expect(turned(turned(turned(turned(page))))).toEqual(page);
  });
});
