import { isReference, type PdfObjects } from '../objects.ts';

/** Returns the content of a page, which may be in several streams. */
export function contentsOf(page: string, pdf: PdfObjects): Buffer {
  const { '/Contents': contents } = pdf.dict(page) ?? {};
  const parts = Array.isArray(pdf.lookup(contents)) ? pdf.array(contents) : [contents ?? null];
  const streams = parts.filter((part): part is string => isReference(part) && pdf.isStream(part));
  return Buffer.concat(streams.flatMap((part) => [pdf.stream(part), Buffer.from('\n')]));
}
