import { isDict, isReference, type PdfObjects, type PdfValue } from '../objects.ts';
import { maxNodes } from '../signatures.ts';
import { referencesOf } from './fields.ts';

/** The pages of a document, and the roots of its fields. */
export interface Copy {
  pages: string[];
  roots: string[];
}

/** Copies pages with their fields and other annotations. What they draw with is shared. */
export function copyPages({ pages, roots }: Copy, pdf: PdfObjects): Copy {
  const owned = new Map<string, string>();
  const own = (reference: string) => owned.set(reference, owned.get(reference) ?? pdf.add(null));
  for (const page of pages) {
    own(page);
    for (const annotation of referencesOf(page, '/Annots', pdf)) own(annotation);
  }
  const pending = [...roots];
  const seen = new Set<string>();
  for (let next = pending.pop(); next !== undefined && seen.size < maxNodes; next = pending.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    own(next);
    pending.push(...referencesOf(next, '/Kids', pdf));
  }
  const copied = (value: PdfValue): PdfValue => {
    if (isReference(value)) return owned.get(value) ?? value;
    if (Array.isArray(value)) return value.map(copied);
    if (!isDict(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copied(each ?? null)]));
  };
  for (const [reference, copy] of owned) {
    const { '/StructParent': _one, '/StructParents': _several, ...dict } = pdf.dict(reference) ?? {};
    pdf.set(copy, copied(dict));
  }
  const copiesOf = (references: string[]) => references.flatMap((reference) => owned.get(reference) ?? []);
  return { pages: copiesOf(pages), roots: copiesOf(roots) };
}
