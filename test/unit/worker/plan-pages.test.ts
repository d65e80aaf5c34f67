import { describe, expect, test } from 'vitest';
import type { RunPlan } from '../../../functions/invocation/plan-run.ts';
import { mayBeLong, partsOfPages, planPages } from '../../../functions/worker/split/plan-pages.ts';

const file = { key: 'k', name: 'a.pdf', size: 5e6, format: 'pdf', mediaType: 'application/pdf', token: 't' };
const run: Pick<RunPlan, 'operation' | 'options' | 'files'> = { operation: 'convert', options: {}, files: [file] };
const types = ['application/pdf', 'image/png'];
const survey = { seconds: 300, start: 0, end: 0, sound: false, pages: 400 };

describe('A document whose pages may take long', () => {
  test.each([
    ['is a large PDF', {}, types, true],
    ['becomes a TIFF', {}, ['application/pdf', 'image/tiff'], true],
    ['is small', { files: [{ ...file, size: 150_000 }] }, types, false],
    [
      'is small, but is drawn at a high resolution',
      { files: [{ ...file, size: 150_000 }], options: { image_dpi: 300 } },
      types,
      true,
    ],
    [
      'is small, but is drawn at a width',
      { files: [{ ...file, size: 150_000 }], options: { image_custom_width: 9_000 } },
      types,
      true,
    ],
    ['is drawn at a low resolution', { files: [{ ...file, size: 500_000 }], options: { image_dpi: 72 } }, types, false],
    ['has a few selected pages', { options: { page_range: '1-3,8' } }, types, false],
    ['has selected pages up to its end', { options: { page_range: '1-3,8-' } }, types, true],
    ['has selected pages up to its end, and others', { options: { page_range: '8-,1' } }, types, true],
    ['becomes text', {}, ['application/pdf', 'text/plain'], false],
    ['is compressed', { operation: 'compress' as const }, types, false],
    ['is recognised', { operation: 'pdf/ocr' as const }, ['application/pdf', 'application/pdf'], true],
    ['is a picture to be recognised', { operation: 'pdf/ocr' as const }, ['image/tiff', 'application/pdf'], false],
    ['is not a PDF', {}, ['application/msword', 'image/png'], false],
    ['is one of two', { files: [file, file] }, types, false],
  ])('or may not: it %s', (_, change, formats, expected) => {
    expect(mayBeLong({ ...run, ...change }, formats, 30)).toBe(expected);
  });
});

describe('The plan of pages', () => {
  test('has ranges of about the same length, which cover the selected pages in order', () => {
    const plan = planPages(survey, { operation: 'convert', options: { page_range: '1-95,7,200-' } }, 500, 30);
    // 95 pages, one of them again, and the last 201.
    expect(plan).toMatchObject({ seconds: 300, surveyMs: 500, pages: 400 });
    expect(plan?.cuts).toEqual([0, 29, 59, 89, 118, 148, 178, 207, 237, 267, 297]);
  });

  test('has one page in a part if a page takes longer than a part', () => {
    expect(planPages({ ...survey, pages: 3 }, { operation: 'convert', options: {} }, 0, 30)?.cuts).toEqual([
      0, 1, 2, 3,
    ]);
  });

  test.each([
    ['takes one engine hardly longer', { ...survey, seconds: 89 }, {}],
    ['has one page', { ...survey, pages: 1 }, {}],
    ['has one selected page', survey, { page_range: '7' }],
    ['has more pages than a task may have files', { ...survey, pages: 501 }, {}],
    ['holds all pages in one file', { seconds: 300, start: 0, end: 0, sound: false, whole: 'A TIFF.' }, {}],
  ])('does not exist for a document that %s', (_, given, options) => {
    expect(planPages(given, { operation: 'convert', options }, 0, 30)).toBeUndefined();
  });

  test('names its parts by their order', () => {
    expect(partsOfPages({ seconds: 1, surveyMs: 0, pages: 9, cuts: [0, 4, 9] })).toEqual([
      { name: 'p0', request: { kind: 'pages', from: 0, to: 4 }, weight: 4, read: {} },
      { name: 'p1', request: { kind: 'pages', from: 4, to: 9 }, weight: 5, read: {} },
    ]);
  });
});
