import { isDict, isReference, type PdfObjects, type PdfValue } from './objects.ts';

/** Bounds walks over trees of strangers. */
export const maxNodes = 100_000;

/**
 * Removes the values of signature fields, since no signature covers a changed file, and what they permit. Returns a warning
 * if there were any.
 */
export function removeSignatures(pdf: PdfObjects): string[] {
  const form = pdf.dict(pdf.catalog['/AcroForm']);
  const seen = new Set<PdfValue>();
  const pending: { field: PdfValue; type: PdfValue }[] = pdf
    .array(form?.['/Fields'])
    .map((field) => ({ field, type: null }));
  let isSigned = false;
  for (let next = pending.pop(); next && seen.size < maxNodes; next = pending.pop()) {
    const dict = pdf.dict(next.field);
    if (!dict || !isReference(next.field) || seen.has(next.field)) continue;
    seen.add(next.field);
    const type = dict['/FT'] ?? next.type;
    if (type === '/Sig' && isDict(pdf.dict(dict['/V']))) {
      isSigned = true;
      pdf.update(next.field, { '/V': undefined });
    }
    for (const field of pdf.array(dict['/Kids'])) pending.push({ field, type });
  }
  if (!isSigned) return [];
  pdf.updateCatalog({
    '/Perms': undefined,
    '/AcroForm': pdf.changed(pdf.catalog['/AcroForm'], { '/SigFlags': undefined }),
  });
  return ['The signatures were removed, because they do not cover the changed document.'];
}
