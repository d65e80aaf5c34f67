import { maxFilesPerTask } from '../../../shared/tasks/limits.ts';
import { maxPages, pagesOf } from '../../engines/runtime/pages.ts';
import type { Survey } from '../../engines/runtime/protocol.ts';
import type { RunPlan } from '../../invocation/plan-run.ts';
import { maxParts, minParts, type PlannedPart } from './plan-parts.ts';

/** The least that a page adds to a PDF, so that a small file is known to have few. */
const minBytesPerPage = 1_500;
/** Seconds that a page of text in A4 takes at 72 dpi, at the most. */
const maxSecondsPerPage = 0.2;
/** Seconds that the recognition of a page takes, at the most. */
const maxSecondsPerText = 10;
/** Options that raise the resolution, and the resolution that is assumed for them. */
const sizes = ['image_custom_width', 'image_custom_height', 'image_resize_percentage'];
const sizedDpi = 600;

/** The operation whose parts are texts, which one engine adds to the document. */
export const recognition = 'pdf/ocr';

/** How work is split by the pages of a document. It is stored, so that a later attempt uses the same ranges. */
export interface PagesPlan {
  /** Estimated engine seconds of the whole run. */
  seconds: number;
  /** Engine time of the survey in milliseconds. */
  surveyMs: number;
  /** Pages of the document. */
  pages: number;
  /** The first index of each range of the selected pages, and the end of the last one. */
  cuts: number[];
}

/** Returns whether the pages of a document may take so long that a run is worth splitting, without reading the document. */
export function mayBeLong(
  { operation, options, files }: Pick<RunPlan, 'operation' | 'options' | 'files'>,
  [source = '', target = '']: string[],
  partSeconds: number,
): boolean {
  const [file] = files;
  if (!file || files.length > 1 || source !== 'application/pdf') return false;
  if (operation === recognition)
    return Math.min(file.size / minBytesPerPage, maxPages) * maxSecondsPerText >= minParts * partSeconds;
  if (operation !== 'convert' || !target.startsWith('image/')) return false;
  const { page_range: range, image_dpi = 150 } = options;
  const dpi = sizes.some((name) => name in options) ? Math.max(Number(image_dpi), sizedDpi) : Number(image_dpi);
  const pages = Math.min(file.size / minBytesPerPage, maxPages, maxSelected(range));
  return pages * maxSecondsPerPage * (dpi / 72) ** 2 >= minParts * partSeconds;
}

/** Returns how many pages a page range selects at most. */
function maxSelected(range: unknown): number {
  if (typeof range !== 'string' || range.endsWith('-') || range.includes('-,')) return maxPages;
  return range.split(',').reduce((sum, part) => {
    const [from = 0, to = from] = part.split('-').map(Number);
    return sum + Math.max(0, to - from + 1);
  }, 0);
}

/** Returns the pages that a task selects, in order. */
export function selectedPages({ options }: Pick<RunPlan, 'options'>, pages: number): number[] {
  return pagesOf(options.page_range, pages);
}

/**
 * Plans ranges of pages so that each takes an engine about that long. Returns undefined if one engine does the whole run nearly as
 * soon, or if it cannot be split.
 */
export function planPages(
  { seconds, pages }: Survey,
  run: Pick<RunPlan, 'operation' | 'options'>,
  surveyMs: number,
  partSeconds: number,
): PagesPlan | undefined {
  if (pages === undefined || seconds < minParts * partSeconds) return undefined;
  const selected = selectedPages(run, pages).length;
  const count = Math.min(maxParts, selected, Math.ceil(seconds / partSeconds));
  if (count < 2 || (run.operation !== recognition && selected > maxFilesPerTask)) return undefined;
  const cuts = Array.from({ length: count + 1 }, (_, index) => Math.floor((index * selected) / count));
  return { seconds, surveyMs, pages, cuts };
}

/** Returns the parts of a plan. */
export function partsOfPages({ cuts }: PagesPlan, kind: 'pages' | 'texts' = 'pages'): PlannedPart[] {
  return cuts.slice(1).map((to, index): PlannedPart => {
    const from = cuts[index] ?? 0;
    return { name: `p${index}`, request: { kind, from, to }, weight: to - from, read: {} };
  });
}
