import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { degrees } from '@cantoo/pdf-lib';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  byChromium,
  byGhostscript,
  byLibreOffice,
  byPdfLib,
  expectSound,
  folderOfFile,
  infoOf,
  only,
  pageTexts,
  render,
  runPdf,
} from './harness.ts';

const run = promisify(execFile);
const place = folderOfFile();

const paragraphs = [
  'The tenant pays the rent on the first day of each month to the account of the landlord.',
  'Pets are allowed if the landlord agrees in writing before they move into the house.',
  'The contract ends three months after either side has given notice by registered letter.',
  'Repairs of up to one hundred euros per year are paid by the tenant, all others by the landlord.',
];
const changedParagraphs = paragraphs.map((text) => text.replace('three months', 'six months'));
const html = (texts: string[]) =>
  texts.map((text, index) => `<p style="${index > 0 ? 'page-break-before: always' : ''}">${text}</p>`).join('');
const added = 'Smoking is forbidden in all rooms, on the balcony and in the garden of the house.';
const withPage = [changedParagraphs[0] ?? '', added, ...changedParagraphs.slice(1)];
const postScript = (texts: string[]) =>
  `/Helvetica 11 selectfont ${texts.map((text) => `72 700 moveto (${text}) show showpage`).join(' ')}`;

const producers = ['LibreOffice', 'Chromium', 'Ghostscript'] as const;

beforeAll(async () => {
  await Promise.all([
    byLibreOffice(place.at('LibreOffice-old.pdf'), html(paragraphs)).then(() =>
      byLibreOffice(place.at('LibreOffice-new.pdf'), html(withPage)),
    ),
    byChromium(place.at('Chromium-old.pdf'), html(paragraphs)),
    byChromium(place.at('Chromium-new.pdf'), html(withPage)),
    byGhostscript(place.at('Ghostscript-old.pdf'), postScript(paragraphs)),
    byGhostscript(place.at('Ghostscript-new.pdf'), postScript(withPage)),
  ]);
});

const compare = (name: string, original: string, outputFormat: 'pdf' | 'json', options = {}) =>
  runPdf('pdf/compare', place.at(name), { others: { original: [place.at(original)] }, outputFormat, options });

const listed = async (name: string, original: string, options = {}) =>
  JSON.parse(await readFile(only(await compare(name, original, 'json', options)), 'utf8'));

describe('the differences of two versions', () => {
  it.each(producers)('are the inserted page and the changed word, of %s', async (producer) => {
    const found = await listed(`${producer}-new.pdf`, `${producer}-old.pdf`);

    expect(found).toMatchObject({
      identical: false,
      same_pages: 3,
      changed_pages: 1,
      inserted_pages: 1,
      deleted_pages: 0,
    });
    expect(found.pages.map(({ original, page, status }: Record<string, unknown>) => [original, page, status])).toEqual([
      [1, 1, 'same'],
      [null, 2, 'inserted'],
      [2, 3, 'same'],
      [3, 4, 'changed'],
      [4, 5, 'same'],
    ]);
    const [, inserted, , changed] = found.pages;
    expect(inserted.inserted[0].text).toBe(added);
    expect([changed.deleted[0].text, changed.inserted[0].text]).toEqual(['three', 'six']);
    expect(changed.changed_share).toBeGreaterThan(0);
    expect(changed.changed_share).toBeLessThan(0.02);
    const [{ areas }] = changed.inserted;
    expect(areas[0].width).toBeGreaterThan(5);
  });

  it.each(producers)('are none of a document and itself, of %s', async (producer) => {
    const name = `${producer}-new.pdf`;
    const report = await compare(name, name, 'pdf');

    expect(report.details).toMatchObject({ identical: true, same_pages: 5, inserted_words: 0 });
    expect(await pageTexts(only(report))).toEqual([expect.stringContaining('There are no differences.')]);
  });

  it.each(producers)('are shown next to each other with marks, of %s', async (producer) => {
    const path = only(await compare(`${producer}-new.pdf`, `${producer}-old.pdf`, 'pdf'));
    const [summary = '', inserted = '', changed = ''] = await pageTexts(path);

    await expectSound(path);
    expect(await infoOf(path, 'Pages')).toBe('3');
    expect(summary).toMatch(/Page 2 was inserted\..*Page 4 \(3 in the original\) changed/s);
    expect(inserted).toMatch(/Not in the original.*Smoking/s);
    expect(changed).toMatch(/three months.*six months/s);
    const picture = await render(path, 3);
    const count = (isMark: (red: number, green: number, blue: number) => boolean, from: number, to: number) => {
      let pixels = 0;
      for (let y = 44; y < picture.height; y++)
        for (let x = Math.round(from * picture.width); x < to * picture.width; x++)
          if (isMark(...picture.at(x, y))) pixels++;
      return pixels;
    };
    expect(count((red, green) => red > green + 40 && red > 200, 0, 0.5)).toBeGreaterThan(50);
    expect(count((red, green) => green > red + 30, 0.5, 1)).toBeGreaterThan(50);
  });
});

describe('pages', () => {
  it('that only are drawn in another way are the same, and pictures differ without words', async () => {
    const drawing = (x: number, turn = 0) =>
      byPdfLib(place.at(`picture-${x}-${turn}.pdf`), (document) => {
        const page = document.addPage([400, 300]);
        page.setRotation(degrees(turn));
        page.drawText('Some words at the same place of the page', { x: 50, y: 250, size: 12 });
        page.drawRectangle({ x, y: 50, width: 100, height: 60 });
      });
    await Promise.all([drawing(50), drawing(50.3), drawing(200), drawing(50, 90)]);

    const shifted = await listed('picture-50.3-0.pdf', 'picture-50-0.pdf');
    const moved = await listed('picture-200-0.pdf', 'picture-50-0.pdf');
    const turned = await listed('picture-50-90.pdf', 'picture-50-0.pdf');

    expect(shifted.identical).toBe(true);
    expect(moved.pages[0]).toMatchObject({ status: 'changed', deleted: [], inserted: [], resized: false });
    expect(moved.pages[0].changed_share).toBeCloseTo((2 * 100 * 60) / (400 * 300), 2);
    for (const area of moved.pages[0].areas) {
      expect(area.top).toBeGreaterThan(180);
      expect(area.top + area.height).toBeLessThan(258);
    }
    expect(turned.pages[0]).toMatchObject({ status: 'changed', resized: true });
  });

  it('have words that moved to the next page', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => `Line ${index} of the text has the number ${index * 7}`);
    const flow = (name: string, texts: string[]) =>
      byPdfLib(place.at(name), (document) => {
        for (const part of [texts.slice(0, 20), texts.slice(20)]) {
          const page = document.addPage([595, 842]);
          for (const [index, text] of part.entries()) page.drawText(text, { x: 72, y: 780 - 20 * index, size: 10 });
        }
      });
    await Promise.all([flow('flow-old.pdf', lines), flow('flow-new.pdf', ['A new line before all others', ...lines])]);
    const { pages, ...summary } = await listed('flow-new.pdf', 'flow-old.pdf');

    expect(summary).toMatchObject({ changed_pages: 2, inserted_words: 6, deleted_words: 0, moved_words: 9 });
    expect(pages[0].moved_to).toEqual([expect.objectContaining({ text: lines[19], page: 2 })]);
    expect(pages[1].moved_from).toEqual([expect.objectContaining({ text: lines[19], page: 1 })]);
  });
});

describe('what cannot be compared', () => {
  it('is a file that is no PDF, damaged, or protected by another password', async () => {
    await run('qpdf', [
      '--encrypt',
      'one',
      'one',
      '256',
      '--',
      place.at('Ghostscript-old.pdf'),
      place.at('locked.pdf'),
    ]);
    await writeFile(place.at('damaged.pdf'), (await readFile(place.at('Chromium-old.pdf'))).subarray(0, 300));
    const sound = 'Ghostscript-old.pdf';

    await expect(compare(sound, 'damaged.pdf', 'json')).rejects.toThrow('could not be read');
    await expect(compare('damaged.pdf', sound, 'pdf')).rejects.toThrow('could not be read');
    await expect(compare(sound, 'locked.pdf', 'json')).rejects.toThrow('Set the option original_password');
    await expect(compare('locked.pdf', sound, 'json')).rejects.toThrow('Set the option password');
    expect(await listed(sound, 'locked.pdf', { original_password: 'one' })).toMatchObject({ identical: true });
  });
});
