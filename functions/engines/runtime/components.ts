import type { Component } from '../../../shared/catalogue/catalogue.ts';

const poppler: Component = { label: 'poppler', apt: ['poppler-utils'], brew: ['poppler'] };

/** Components that several engines use, by the name of the program or package. */
export const components = {
  sharp: { label: 'sharp' },
  gs: { label: 'Ghostscript', apt: ['ghostscript'], brew: ['ghostscript'] },
  pdfinfo: poppler,
  pdftocairo: poppler,
  pdftohtml: poppler,
  pdftops: poppler,
  pdftotext: poppler,
  qpdf: { label: 'qpdf', apt: ['qpdf'], brew: ['qpdf'] },
  pandoc: { label: 'pandoc', apt: ['pandoc'], brew: ['pandoc'] },
  // Controlled through its Python bridge, which Debian packages separately.
  soffice: {
    label: 'LibreOffice',
    apt: [
      'libreoffice-calc-nogui',
      'libreoffice-draw-nogui',
      'libreoffice-impress-nogui',
      'libreoffice-math-nogui',
      'libreoffice-writer-nogui',
      'python3-uno',
    ],
  },
} satisfies Record<string, Component>;
