import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EngineError, type WorkResult } from '../../../functions/engines/runtime/engine.ts';
import { surveyOf } from '../../../functions/invocation/parse-survey.ts';
import { longPdf } from '../../support/long-pdf.ts';
import { placeOfFile, runEngine } from './harness.ts';

const place = placeOfFile();

async function pdfOf(pages: number): Promise<string> {
  const path = join(place.folder, `${pages} pages.pdf`);
  await writeFile(path, await longPdf(pages));
  return path;
}

async function contents({ outputs }: WorkResult): Promise<{ name: string; bytes: string }[]> {
  return Promise.all(
    outputs.map(async ({ path, name }) => ({ name, bytes: (await readFile(path)).toString('base64') })),
  );
}

async function surveyed(path: string, format: string, options: Record<string, unknown>, wholeWithin?: number) {
  const part = { kind: 'survey' as const, ...(wholeWithin === undefined ? {} : { wholeWithin }) };
  const { outputs, details, progress } = await runEngine(path, 'pdf', format, options, 'convert', part);
  return { outputs, progress, survey: details ? surveyOf(details.survey, 0, (text) => text) : undefined };
}

test.each([
  ['png', { image_dpi: 60, page_range: '2-9,11,11' }],
  ['jpg', { image_dpi: 60, image_custom_width: 300 }],
  ['webp', { image_dpi: 60, page_range: '9-' }],
  ['svg', {}],
])('Pages drawn to %s in parts equal those of a whole run, byte for byte', async (format, options) => {
  const path = await pdfOf(12);
  const whole = await contents(await runEngine(path, 'pdf', format, options));

  const parts = [];
  for (let from = 0; from < whole.length; from += 3) {
    const part = { kind: 'pages' as const, from, to: Math.min(from + 3, whole.length) };
    parts.push(...(await contents(await runEngine(path, 'pdf', format, options, 'convert', part))));
  }

  expect(whole.length).toBeGreaterThan(3);
  expect(parts).toEqual(whole);
});

test('A part of one page has the number of the page in its name', async () => {
  const part = { kind: 'pages' as const, from: 4, to: 5 };
  const { outputs } = await runEngine(await pdfOf(12), 'pdf', 'png', { image_dpi: 30 }, 'convert', part);

  expect(outputs.map(({ name }) => name)).toEqual(['12 pages-05.png']);
});

test('A survey of a long run has its seconds and the number of pages, and draws none for the user', async () => {
  const { outputs, survey, progress } = await surveyed(await pdfOf(40), 'png', { image_dpi: 60, page_range: '3-' });

  expect(outputs).toEqual([]);
  expect(progress).toEqual([]);
  expect(survey).toMatchObject({ pages: 40, start: 0, end: 0, sound: false });
  expect(survey?.seconds).toBeGreaterThan(0.5);
  expect(survey?.whole).toBeUndefined();
});

test('A survey becomes the whole run if that is estimated to be short enough', async () => {
  const { outputs, survey } = await surveyed(await pdfOf(12), 'png', { image_dpi: 30 }, 60);

  expect(survey).toBeUndefined();
  expect(outputs).toHaveLength(12);
});

test('A long run to TIFF is not split, because one file holds all pages', async () => {
  const { survey } = await surveyed(await pdfOf(40), 'tiff', { image_dpi: 60 });

  expect(survey).toMatchObject({ whole: 'A TIFF file holds all pages.' });
  expect(survey?.pages).toBeUndefined();
});

test('A survey refuses what a whole run refuses', async () => {
  await expect(surveyed(await pdfOf(510), 'png', { image_dpi: 30 })).rejects.toThrow(EngineError);
});
