import type { Component } from '../../../shared/catalogue/catalogue.ts';
import { components as shared } from '../runtime/components.ts';

const { pdfinfo, pdftohtml, pdftoppm, pdftotext, qpdf, sharp, soffice, tesseract } = shared;

/** Components of the engine for Markdown. */
export const components = {
  pdfinfo,
  pdftohtml,
  pdftoppm,
  pdftotext,
  qpdf,
  sharp,
  soffice,
  tesseract,
} satisfies Record<string, Component>;
