import type { Component } from '../../../shared/catalogue/catalogue.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { components as shared } from '../runtime/components.ts';

const { sharp, pdfinfo, soffice } = shared;

/** Components of the e-book engine. */
export const components = {
  sharp,
  'ebook-convert': { label: 'Calibre', apt: ['calibre'], brew: ['calibre'], optional: true },
  pdfinfo,
  soffice,
} satisfies Record<string, Component>;

/** Returns the programs of a pair: pages are laid out by LibreOffice, all else is Calibre's. */
export function requires(_operation: ProcessingOperation, _from: string, to: string): (keyof typeof components)[] {
  return to === 'pdf' ? ['sharp', 'ebook-convert', 'soffice', 'pdfinfo'] : ['sharp', 'ebook-convert'];
}
