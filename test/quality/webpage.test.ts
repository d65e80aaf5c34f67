import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type QualityCase, testQuality } from './case.ts';
import { only, pdfPaper, pdfText, pixels, tags } from './readers.ts';

/** Makes a web page. */
const page = (html: string) => async (folder: string) => {
  const path = join(folder, 'page.html');
  await writeFile(path, `<!doctype html><meta charset="utf-8"><title>A page</title>${html}`);
  return path;
};

const styled = page(`<style>
  @page { size: A5 landscape; margin: 15mm }
  @media print { .screen { display: none } }
  @media screen { .print { display: none } }
</style><p class="screen">screen</p><p class="print">print</p>`);

const table = (pixels: number) =>
  page(`<table style="width: ${pixels}px"><tr><td>left</td><td style="text-align: right">right</td></tr></table>`);

const cutOff =
  'The page is wider than the paper, so that its right side is cut off. Set shrink_to_fit, a larger page_size, or page_orientation to landscape.';

const facts = async (path: string) => ({ text: await pdfText(path), paper: await pdfPaper(path) });

const cases: QualityCase[] = [
  {
    name: 'a PDF has the print styles, the paper and the orientation of its web page',
    input: styled,
    to: 'pdf',
    read: only(facts),
    expected: { text: ['print'], paper: ['595 x 420'] },
    usual: true,
  },
  {
    name: 'a PDF has the screen styles on request, and then A4',
    input: styled,
    to: 'pdf',
    options: { use_print_stylesheet: false },
    read: only(facts),
    expected: { text: ['screen'], paper: ['595 x 842'] },
  },
  {
    name: 'a requested paper size replaces that of the page',
    input: styled,
    to: 'pdf',
    options: { page_size: 'Letter' },
    read: only(facts),
    expected: { text: ['print'], paper: ['612 x 792'] },
  },
  {
    name: 'a PDF of a page without print styles is A4',
    input: page('<p>plain'),
    to: 'pdf',
    read: only(facts),
    expected: { text: ['plain'], paper: ['596 x 842'] },
  },
  {
    name: 'a page somewhat wider than the paper is shrunk',
    input: table(1000),
    to: 'pdf',
    read: only(pdfText),
    expected: [expect.stringMatching(/^left\s+right$/)],
  },
  {
    name: 'a page much wider than the paper is cut off with a warning',
    input: table(1500),
    to: 'pdf',
    read: only(pdfText),
    expected: ['left'],
    warnings: [cutOff],
  },
  ...[1500, 5000].map(
    (width): QualityCase => ({
      name: `a page ${width} pixels wide fits on the paper on request`,
      input: table(width),
      to: 'pdf',
      options: { shrink_to_fit: true },
      read: only(pdfText),
      expected: [expect.stringMatching(/^left\s+right$/)],
      usual: width === 1500,
    }),
  ),
  {
    name: 'a header and a footer are printed with the title and page numbers',
    input: page('<p>one</p><p style="break-before: page">two</p>'),
    to: 'pdf',
    options: {
      header_template: '<i class="title"></i>',
      footer_template: 'Page <span class="pageNumber"></span> of <span class="totalPages"></span>',
    },
    read: only(pdfText),
    expected: [
      expect.stringMatching(/^one\s+A page\s+Page 1 of 2$/),
      expect.stringMatching(/^two\s+A page\s+Page 2 of 2$/),
    ],
  },
  {
    name: 'a PDF has the title, the characters of all scripts and each page of its web page',
    input: page('<p>Grüße Ελλάδα Привет</p><p style="break-before: page">日本語 中文 한국어</p>'),
    to: 'pdf',
    read: only(async (path) => ({ text: await pdfText(path), ...(await tags('Title', 'PageCount')(path)) })),
    expected: { text: ['Grüße Ελλάδα Привет', '日本語 中文 한국어'], Title: 'A page', PageCount: 2 },
  },
  {
    name: 'a picture of a page has its screen styles and its colours',
    input: page(
      '<style>body { margin: 0; background: rgb(10, 200, 30) } @media print { body { background: red } }</style>',
    ),
    to: 'png',
    read: only(pixels([700, 450])),
    expected: [[10, 200, 30]],
  },
];

testQuality(cases);
