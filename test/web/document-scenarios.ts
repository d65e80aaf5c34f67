import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import { beforeEach, describe, expect, test } from 'vitest';
import { click, shows } from './browser.ts';
import { folder, page, service } from './running-page.ts';

/** Writes a PDF whose pages are told by their widths. */
async function pdfOf(name: string, widths: number[]): Promise<string> {
  const document = await PDFDocument.create();
  for (const width of widths) document.addPage([width, 200]).drawText(String(width), { x: 20, y: 80, size: 40 });
  const path = join(folder, name);
  await writeFile(path, await document.save());
  return path;
}

const press = (label: string) => page.locator(`button[aria-label="${label}"]`).click();

describe('the view of PDF pages', () => {
  beforeEach(async () => {
    await page.goto(`${service.url}/documents`);
  });

  test('pages of two documents are arranged, turned, deleted and split, and saved', { timeout: 120_000 }, async () => {
    const chooser = await page.waitForSelector('input[type=file][accept]');
    await chooser?.uploadFile(await pdfOf('one.pdf', [300, 310, 320]), await pdfOf('two.pdf', [400, 410]));
    await page.waitForFunction(() => document.querySelectorAll('.page-picture').length === 5, { timeout: 60_000 });
    await press('Move Page 1 of two.pdf back');
    await press('Delete Page 2 of one.pdf');
    await press('Rotate Page 1 of one.pdf');
    // By drag and drop: the last page before the first.
    await page.locator('.pages > li:nth-child(4)').waitHandle();
    await page.$eval('.pages > li:nth-child(4)', (last) => {
      const first = document.querySelector('.pages > li');
      const drag = (target: Element | null, type: string) =>
        target?.dispatchEvent(
          new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: new DataTransfer() }),
        );
      drag(last, 'dragstart');
      drag(first, 'dragover');
      drag(first, 'drop');
      drag(last, 'dragend');
    });
    await page.locator('.pages > li:nth-child(3) input[type=checkbox]').click();
    await shows(page, '4 pages in 2 files');
    await click(page, 'Save PDF');
    await page.waitForSelector('ul[aria-label="Saved files"] a', { timeout: 60_000 });
    const links = await page.$$eval('ul[aria-label="Saved files"] a', (all) => all.map(({ href }) => href));
    const saved = await Promise.all(
      links.map(async (link) => {
        const document = await PDFDocument.load(await (await fetch(link)).arrayBuffer());
        return document.getPages().map((each) => [each.getWidth(), each.getRotation().angle]);
      }),
    );
    expect(saved).toEqual([
      [
        [410, 0],
        [300, 90],
      ],
      [
        [400, 0],
        [320, 0],
      ],
    ]);

    await page.locator('summary::-p-text(Code)').click();
    await page.locator('#code-json').click();
    const json = await page.$eval('#code', (code) => code.textContent);
    expect(Object.keys(JSON.parse(json ?? '').tasks)).toEqual([
      ...['file-2', 'file-1', 'merge', 'reorder', 'rotate-90', 'split', 'export'],
    ]);
    await click(page, 'Open in the builder');
    await shows(page, 'Put the pages of a PDF into another order');
  });

  test('says which file is no PDF', async () => {
    const path = join(folder, 'notes.pdf');
    await writeFile(path, 'These are notes.');
    await (await page.waitForSelector('input[type=file][accept]'))?.uploadFile(path);
    await shows(page, 'notes.pdf: ');
  });
});
