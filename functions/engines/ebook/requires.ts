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

/** Returns the programs for a pair of formats: LibreOffice lays out pages, Calibre does everything else. */
export function requires(_operation: ProcessingOperation, _from: string, to: string): (keyof typeof components)[] {
  return to === 'pdf' ? ['sharp', 'ebook-convert', 'soffice', 'pdfinfo'] : ['sharp', 'ebook-convert'];
}
