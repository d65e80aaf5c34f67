import type { Component } from '../../../shared/catalogue/catalogue.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { components as shared } from '../runtime/components.ts';

const { sharp, pdfinfo, soffice } = shared;

/** What the e-book engine is made of. */
export const components = {
  sharp,
  'ebook-convert': { label: 'Calibre', apt: ['calibre'], brew: ['calibre'], optional: true },
  pdfinfo,
  soffice,
} satisfies Record<string, Component>;

/** Names the programs of a pair: pages are laid out by LibreOffice, all else is Calibre's. */
export function requires(_operation: ProcessingOperation, _from: string, to: string): (keyof typeof components)[] {
  return to === 'pdf' ? ['sharp', 'ebook-convert', 'soffice', 'pdfinfo'] : ['sharp', 'ebook-convert'];
}
