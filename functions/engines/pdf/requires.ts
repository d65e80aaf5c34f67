import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import type { components } from './components.ts';

type Name = keyof typeof components;

const drawing: Name[] = ['rsvg-convert', 'fc-list', 'sharp'];

/** The components that operations require in addition to qpdf and pdfinfo. */
const byOperation: Partial<Record<ProcessingOperation, Name[]>> = {
  'pdf/watermark': drawing,
  'pdf/stamp': drawing,
  'pdf/fill': ['rsvg-convert', 'fc-list'],
  'pdf/compare': ['pdftotext', 'pdftoppm'],
  'pdf/sign': ['openssl', ...drawing],
  'pdf/verify': ['openssl'],
  'pdf/ocr': ['tesseract', 'pdfimages', 'pdftohtml', 'pdftoppm', 'pdftotext', 'sharp'],
  'pdf/a': ['gs'],
  'invoice/embed': ['gs'],
  'pdf/redact': ['pdftotext', 'pdftoppm', 'pdfimages', 'sharp'],
  'pdf/optimize': ['pdftoppm', 'sharp'],
};

/** Returns the components that an operation requires. */
export function requires(operation: ProcessingOperation, _from: string, to: string): Name[] {
  const reported: Name[] = operation === 'pdf/compare' && to === 'pdf' ? ['rsvg-convert'] : [];
  return ['qpdf', 'pdfinfo', ...(byOperation[operation] ?? []), ...reported];
}
