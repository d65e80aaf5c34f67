import type { Component } from '../../../shared/catalogue/catalogue.ts';

const languages = 'ara chi-sim chi-tra deu eng fra hin ita jpn jpn-vert kor nld osd pol por rus spa ukr'.split(' ');
const poppler: Component = { label: 'poppler', apt: ['poppler-utils'], brew: ['poppler'] };

/** Components that several engines use, by the name of the program or package. */
export const components = {
  sharp: { label: 'sharp' },
  gs: { label: 'Ghostscript', apt: ['ghostscript'], brew: ['ghostscript'] },
  pdfimages: poppler,
  pdfinfo: poppler,
  pdftocairo: poppler,
  pdftohtml: poppler,
  pdftoppm: poppler,
  pdftops: poppler,
  pdftotext: poppler,
  qpdf: { label: 'qpdf', apt: ['qpdf'], brew: ['qpdf'] },
  tesseract: {
    label: 'Tesseract',
    apt: ['tesseract-ocr', ...languages.map((language) => `tesseract-ocr-${language}`)],
    brew: ['tesseract', 'tesseract-lang'],
  },
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
