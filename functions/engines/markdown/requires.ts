import { isPicture } from './formats.ts';
import { intermediateOf } from './read/intermediate.ts';

/** Scanned pages need tesseract, too; a machine without it reads all others. */
const pdfPrograms = ['pdfinfo', 'pdftohtml', 'pdftoppm', 'pdftotext', 'qpdf'];

/** Returns the components that a conversion requires. */
export function requires(_operation: string, from: string): string[] {
  if (from === 'pdf') return ['sharp', ...pdfPrograms];
  if (isPicture(from)) return ['sharp', 'tesseract'];
  // The programs of the document engine load libvips.
  return intermediateOf(from) === undefined ? ['sharp'] : ['sharp', 'soffice'];
}
