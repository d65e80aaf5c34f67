import type { Component } from '../../../shared/catalogue/catalogue.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { components as shared } from '../runtime/components.ts';
import { components as browser } from '../webpage/requires.ts';

const { gs, pandoc, pdfinfo, qpdf, sharp, soffice } = shared;

/** Components of the mail engine. */
export const components = {
  sharp,
  chromium: browser.chromium,
  gs,
  pandoc,
  pdfinfo,
  qpdf,
  soffice,
} satisfies Record<string, Component>;

/** Returns the components of a pair: the browser draws pages, and LibreOffice converts what is attached or rich text. */
export function requires(_operation: ProcessingOperation, _from: string, to: string): (keyof typeof components)[] {
  // The programs of the document engine load libvips.
  return ['sharp', ...(to === 'pdf' ? (['chromium', 'gs', 'pandoc', 'pdfinfo', 'qpdf', 'soffice'] as const) : [])];
}
