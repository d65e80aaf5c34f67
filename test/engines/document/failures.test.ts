import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { placeOfFile, runEngine } from './harness.ts';
import { makeSample } from './samples.ts';

const run = promisify(execFile);
const place = placeOfFile();

const at = (name: string) => join(place.folder, name);

async function failure(
  path: string,
  from: string,
  to: string,
  options: Record<string, unknown> = {},
  operation: ProcessingOperation = 'convert',
): Promise<EngineError> {
  const error: unknown = await runEngine(path, from, to, options, operation).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof EngineError)) throw new Error(`Expected an EngineError but received ${String(error)}.`);
  return error;
}

describe('files that cannot be converted', () => {
  it.each(['docx', 'odt', 'rtf', 'txt', 'html', 'md', 'xlsx', 'csv', 'doc', 'pptx', 'vsdx', 'epub'])(
    'says that an empty %s is empty',
    async (format) => {
      const path = at(`empty.${format}`);
      await writeFile(path, '');

      expect((await failure(path, format, 'pdf')).message).toBe('The file is empty.');
    },
  );

  it.each(['docx', 'odt', 'xlsx', 'ods', 'pptx', 'odp', 'epub', 'vsdx', 'sxw'])(
    'says that half a %s is damaged',
    async (format) => {
      const bytes = await readFile(await makeSample(format, place.folder));
      const path = at(`half.${format}`);
      await writeFile(path, bytes.subarray(0, bytes.length / 2));

      expect((await failure(path, format, 'pdf')).message).toMatch(/damaged/);
    },
  );

  it.each(['doc', 'xls', 'ppt', 'docx', 'odt', 'pdf', 'wpd', 'emf'])('says that noise is no %s', async (format) => {
    const path = at(`noise.${format}`);
    await writeFile(path, Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 251)));

    const { message } = await failure(path, format, format === 'pdf' ? 'png' : 'pdf');

    expect(message).toMatch(/damaged|could not be read|crash|not a /);
  });

  it('says that a truncated PDF is damaged, or draws what is left of it', async () => {
    const bytes = await readFile(await makeSample('pdf', place.folder));
    const path = at('half.pdf');
    await writeFile(path, bytes.subarray(0, 300));

    expect((await failure(path, 'pdf', 'txt')).message).toMatch(/damaged|no pages/);
  });

  it('says that a PDF without pages has none', async () => {
    const path = at('none.pdf');
    await writeFile(
      path,
      '%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [] /Count 0 >>\nendobj\ntrailer << /Root 1 0 R /Size 3 >>\n%%EOF\n',
    );

    expect((await failure(path, 'pdf', 'png')).message).toMatch(/no pages|damaged/);
  });

  it('says that a PDF of pictures has no text', async () => {
    const path = at('pictures.pdf');
    await run('gs', ['-q', '-sDEVICE=pdfimage8', '-r72', '-o', path, await makeSample('pdf', place.folder)]);

    expect((await failure(path, 'pdf', 'txt')).message).toMatch(/only images/);
    expect((await failure(path, 'pdf', 'docx')).message).toMatch(/only images/);
  });

  it('says that binary data is no text', async () => {
    const path = at('binary.txt');
    await writeFile(path, Buffer.from([1, 0, 2, 0, 3, 255, 0]));

    expect((await failure(path, 'txt', 'pdf')).message).toMatch(/not text/);
  });

  it.each([
    ['a page whose parent is a number', '<< /Type /Pages /Kids [3 0 R] /Count 1 >>', '4 0 R'],
    ['a tree of pages that contains itself', '<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 2 >>', '2 0 R'],
  ])('refuses to crop %s, and does not take it for a fault of its own', async (_what, pages, parent) => {
    const path = at('tree.pdf');
    const page = `<< /Type /Page /Parent ${parent} /MediaBox [0 0 100 100] >>`;
    const objects = ['<< /Type /Catalog /Pages 2 0 R >>', pages, page, '7'];
    await writeFile(
      path,
      `%PDF-1.4\n${objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('')}trailer << /Root 1 0 R >>\n%%EOF\n`,
    );

    expect((await failure(path, 'pdf', 'pdf', { width: 10, height: 10 }, 'crop')).message).toMatch(/damaged/);
  });

  it('says which page does not exist', async () => {
    expect((await failure(await makeSample('pdf', place.folder), 'pdf', 'png', { page_range: '7' })).message).toBe(
      'The document has 1 pages, so page 7 in page_range does not exist.',
    );
  });

  it('says before it draws any page that there are too many for one task', async () => {
    const path = at('long.pdf');
    await writeFile(path, blankPages(501));

    expect((await failure(path, 'pdf', 'png')).message).toBe(
      'This would produce 501 files; the maximum per task is 500. Choose fewer pages with page_range.',
    );
    expect((await runEngine(path, 'pdf', 'png', { page_range: '1-2', image_dpi: 20 })).outputs).toHaveLength(2);
  });

  it('says which sheet does not exist', async () => {
    expect((await failure(await makeSample('xlsx', place.folder), 'xlsx', 'csv', { sheet: 4 })).message).toMatch(
      /sheet 4 does not exist/,
    );
  });

  it('keeps the last lines of the program for the log', async () => {
    const path = at('broken.ipynb');
    await writeFile(path, '{ "cells": [');

    expect((await failure(path, 'ipynb', 'html')).detail).not.toBe('');
  });
});

/** Makes a PDF of blank pages. */
function blankPages(count: number): string {
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>';
  const kids = Array.from({ length: count }, (_, index) => `${index + 3} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`,
    ...Array<string>(count).fill(page),
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  return `${text}xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
}
