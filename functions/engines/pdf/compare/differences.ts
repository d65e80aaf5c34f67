import type { Pdf } from '../../runtime/pdf-file.ts';
import type { PagePair } from './align.ts';
import type { Area, Run, Word } from './words.ts';

export interface Document {
  name: string;
  pdf: Pdf;
  words: Word[][];
}

export interface PageDifference {
  pair: PagePair;
  status: 'same' | 'changed' | 'inserted' | 'deleted';
  changedShare: number;
  isResized: boolean;
  /** What differs visually, in points from the top left corner. */
  areas: Area[];
  deleted: Run[];
  inserted: Run[];
}

/** Counts what differs. */
export function summarize(differences: PageDifference[], before: Document, after: Document) {
  const count = (status: PageDifference['status']) => differences.filter((each) => each.status === status).length;
  const words = (runs: (each: PageDifference) => Run[], isMoved: boolean) =>
    differences
      .flatMap(runs)
      .filter(({ movedTo }) => (movedTo !== undefined) === isMoved)
      .reduce((sum, run) => sum + run.words.length, 0);
  return {
    identical: differences.every(({ status }) => status === 'same'),
    original_pages: before.pdf.pages,
    compared_pages: after.pdf.pages,
    same_pages: count('same'),
    changed_pages: count('changed'),
    inserted_pages: count('inserted'),
    deleted_pages: count('deleted'),
    inserted_words: words(({ inserted }) => inserted, false),
    deleted_words: words(({ deleted }) => deleted, false),
    moved_words: words(({ deleted }) => deleted, true),
  };
}
