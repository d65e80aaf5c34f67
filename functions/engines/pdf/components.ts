import type { Component } from '../../../shared/catalogue/catalogue.ts';
import { components as shared } from '../runtime/components.ts';

const { gs, pdfimages, pdfinfo, pdftohtml, pdftoppm, pdftotext, qpdf, sharp, tesseract } = shared;

/** Components of the PDF engine. */
export const components = {
  gs,
  pdfimages,
  pdfinfo,
  pdftohtml,
  pdftoppm,
  pdftotext,
  qpdf,
  sharp,
  tesseract,
  // Draws marks: Pango shapes their text, and cairo writes it as PDF.
  'rsvg-convert': { label: 'librsvg', apt: ['librsvg2-bin'], brew: ['librsvg'] },
  // Opens certificates, and checks their chains.
  openssl: { label: 'OpenSSL', apt: ['openssl'], brew: ['openssl@3'] },
  'fc-list': { label: 'fontconfig', apt: ['fontconfig'], brew: ['fontconfig'] },
} satisfies Record<string, Component>;
