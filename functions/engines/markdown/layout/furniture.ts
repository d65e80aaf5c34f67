import { around, type PageText, type Segment, type Span, segmentsOf } from './spans.ts';
import { rowsOf } from './tables.ts';

/** The part of a page at its top and bottom that running headers and footers are in. */
const margin = 0.11;
const pageNumber =
  /^(?:[-–—|\s]*(?:page|seite|p\.)?\s*\d{1,4}(?:\s*(?:\/|of|von|de|sur)\s*\d{1,4})?[-–—|\s]*|[ivxlc]{1,6})$/i;

/** Removes running headers, footers and page numbers: what is at the same place of many pages, but for its numbers. */
export function withoutFurniture(pages: PageText[]): PageText[] {
  const found = pages.map((page) => edgeRows(page));
  const counts = new Map<string, number>();
  for (const rows of found)
    for (const key of new Set(rows.map(({ key }) => key))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const often = Math.max(2, Math.min(10, 0.3 * pages.length));
  return pages.map((page, index) => {
    const removed = new Set<Span>();
    for (const { key, text, row, isOuter } of found[index] ?? [])
      if ((pages.length > 2 && (counts.get(key) ?? 0) >= often) || (isOuter && pageNumber.test(text)))
        for (const { spans } of row) for (const span of spans) removed.add(span);
    return removed.size === 0 ? page : { ...page, spans: page.spans.filter((span) => !removed.has(span)) };
  });
}

function edgeRows({ spans, height }: PageText): { key: string; text: string; row: Segment[]; isOuter: boolean }[] {
  const edges = spans.filter(({ top, bottom }) => bottom < margin * height || top > (1 - margin) * height);
  if (edges.length === 0) return [];
  const rows = rowsOf(segmentsOf(edges));
  const tops = spans.map(({ top }) => top).sort((one, other) => one - other);
  return rows.map((row, index) => {
    const text = row.map((segment) => segment.text).join(' ');
    const place = Math.round(((row[0]?.top ?? 0) / height) * 100);
    const isOuter = index === 0 || index === rows.length - 1;
    if (isTableHead(row, tops)) return { key: '', text: '', row: [], isOuter };
    return { key: `${place} ${text.replaceAll(/\d+/g, '#').toLowerCase()}`, text, row, isOuter };
  });
}

/** Returns whether a row has others directly below it, as the head of a table that is repeated on each page. */
function isTableHead(row: Segment[], tops: readonly number[]): boolean {
  if (row.length < 3) return false;
  const { bottom } = around(row);
  let [low, high] = [0, tops.length];
  while (low < high) {
    const half = (low + high) >> 1;
    if ((tops[half] ?? 0) > bottom - 2) high = half;
    else low = half + 1;
  }
  return (tops[low] ?? Infinity) - bottom < (row[0]?.size ?? 10);
}
