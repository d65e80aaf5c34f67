import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { degrees, PDFDocument, StandardFonts } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { byChromium, byGhostscript, byLibreOffice } from '../pdf/harness.ts';
import { convert, markdown, newFolder } from './harness.ts';

const words =
  'The quick brown fox jumps over the lazy dog while the patient scribe writes down what every one of them has done. ';
const article = `<html><body><p>Draft</p><h1>Annual report</h1><p>${words.repeat(3)}</p><h2>Figures</h2><p>${words} <b>Bold words</b> end it.</p>
<table border="1" cellspacing="0" cellpadding="4"><tr><th>Name</th><th>Amount</th></tr><tr><td>First</td><td>1,000</td></tr><tr><td>Second one</td><td>20</td></tr></table>
<h2>Steps</h2><ol><li>One step</li><li>Another step</li></ol><p>${words}</p></body></html>`;

let folder: string;
beforeAll(async () => {
  folder = await newFolder();
});

describe.each([
  ['LibreOffice', () => byLibreOffice(join(folder, 'office.pdf'), article)],
  ['Chromium', () => byChromium(join(folder, 'browser.pdf'), article)],
])('a PDF by %s', (_name, make) => {
  let text: string;
  beforeAll(async () => {
    text = await markdown('a.pdf', await readFile(await make()));
  });

  test('has its headings, paragraphs, lists and tables', () => {
    expect(text).toMatch(/^<!-- page 1 -->[\s\S]*\n\n# Annual report\n\nThe quick/);
    expect(text).toContain(`\n\n${words.repeat(3).trim()}\n\n## Figures\n\n`);
    expect(text).toContain('**Bold words** end it.');
    expect(text).toContain('| Name | Amount |\n|---|---|\n| First | 1,000 |\n| Second one | 20 |');
    expect(text).toContain('## Steps\n\n1. One step\n2. Another step\n\nThe quick');
  });
});

describe('a PDF with columns, running headers and divided words', () => {
  // Every fifth line ends with a divided word.
  const column = (name: string, x: number) =>
    `0 1 29 { dup 14 mul 680 exch sub ${x} exch moveto dup 3 string cvs (${name}) show show ( goes on to the next line of the col) show 5 mod 4 eq { (-) } { (umn) } ifelse show } for`;
  const page = (number: number) =>
    `/Helvetica 10 selectfont 72 760 moveto (A running header) show 72 40 moveto (Page ${number} of 3) show
    /Helvetica-Bold 16 selectfont 72 720 moveto (Chapter ${number}) show
    /Helvetica 10 selectfont 30 dict begin ${column(`l${number}x`, 72)} ${column(`r${number}x`, 310)} end showpage`;

  test('is read column by column, without what repeats', async () => {
    const path = await byGhostscript(join(folder, 'columns.pdf'), [1, 2, 3].map(page).join('\n'));
    const text = await markdown('a.pdf', await readFile(path));
    expect(text).not.toMatch(/running header|of 3/);
    expect(text.match(/^# Chapter \d$/gm)).toEqual(['# Chapter 1', '# Chapter 2', '# Chapter 3']);
    const order = [...text.matchAll(/([lr]\dx\d+) goes/g)].map(([, word]) => word);
    const expected = [1, 2, 3].flatMap((number) =>
      ['l', 'r'].flatMap((side) => Array.from({ length: 30 }, (_, line) => `${side}${number}x${line}`)),
    );
    expect(order).toEqual(expected);
  });
});

test('pages are chosen by page_range, and keep their numbers', async () => {
  const path = await byGhostscript(
    join(folder, 'three.pdf'),
    [1, 2, 3].map((page) => `/Helvetica 12 selectfont 72 700 moveto (Words of page ${page}) show showpage`).join(' '),
  );
  const bytes = await readFile(path);
  expect(await markdown('a.pdf', bytes, { page_range: '2-' })).toBe(
    '<!-- page 2 -->\n\nWords of page 2\n\n<!-- page 3 -->\n\nWords of page 3\n',
  );
  const { text } = await convert('a.pdf', bytes, { page_range: '3' }, 'json');
  expect(JSON.parse(text)).toEqual({
    pages: [{ page: 3, width: 594.7, height: 842 }],
    blocks: [
      {
        type: 'paragraph',
        text: 'Words of page 3',
        markdown: 'Words of page 3',
        page: 3,
        bbox: [72, expect.any(Number), expect.closeTo(160, -1), expect.any(Number)],
      },
    ],
  });
});

describe('text in pictures', () => {
  let scan: Buffer;
  beforeAll(async () => {
    const lines = [
      'Meeting of the board',
      'The members agreed on the plan for',
      'the next year and thanked the staff.',
    ];
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1240" height="800"><rect width="100%" height="100%" fill="#fff"/>${lines
      .map(
        (line, index) =>
          `<text x="120" y="${index === 0 ? 150 : 220 + 50 * index}" font-family="DejaVu Sans" font-size="${index === 0 ? 64 : 36}">${line}</text>`,
      )
      .join('')}</svg>`;
    scan = await sharp(Buffer.from(svg)).png().toBuffer();
  });
  const expected =
    '# Meeting of the board\n\nThe members agreed on the plan for the next year and thanked the staff.\n';

  test('is recognised', async () => {
    expect(await markdown('a.png', scan)).toBe(expected);
  });

  test('of a scanned page is recognised, and other pages are read', async () => {
    const document = await PDFDocument.create();
    const font = await document.embedFont(StandardFonts.Helvetica);
    document.addPage([595, 842]).drawText('A page with text that is long enough', { x: 72, y: 700, size: 12, font });
    const picture = await document.embedPng(scan);
    document.addPage([620, 400]).drawImage(picture, { x: 0, y: 0, width: 620, height: 400 });
    const text = await markdown('a.pdf', Buffer.from(await document.save()), { images: 'none', languages: 'eng' });
    expect(text).toBe(`<!-- page 1 -->\n\nA page with text that is long enough\n\n<!-- page 2 -->\n\n${expected}`);
  });

  test('needs a language that is installed', async () => {
    await expect(convert('a.png', scan, { languages: 'xyz' })).rejects.toThrow('xyz is not installed');
    await expect(convert('a.png', Buffer.from('not a picture'))).rejects.toThrow('could not be read');
  });
});

describe('a hostile PDF', () => {
  const make = async (build: (document: PDFDocument) => void | Promise<void>) => {
    const document = await PDFDocument.create();
    await build(document);
    return Buffer.from(await document.save());
  };

  test('becomes harmless Markdown', async () => {
    const bytes = await make((document) => {
      const page = document.addPage([595, 842]);
      page.drawText('<script>alert(1)</script> [x](javascript:alert(1))', { x: 72, y: 700, size: 12 });
      page.drawText('# no heading', { x: 72, y: 600, size: 12 });
      page.drawText('turned', { x: 72, y: 300, size: 12, rotate: degrees(90) });
    });
    const text = await markdown('a.pdf', bytes);
    expect(text).toContain('\\<script>alert(1)\\</script> \\[x\\](javascript:alert(1))');
    expect(text).toContain('\\# no heading');
  });

  test('that is damaged, empty or protected is refused', async () => {
    await expect(convert('a.pdf', '%PDF-1.7 nothing')).rejects.toThrow(/damaged/);
    const empty = await make((document) => {
      document.addPage();
    });
    await expect(convert('a.pdf', empty)).rejects.toThrow('no text');
    const whole = await make((document) => {
      document.addPage().drawText('x');
    });
    await expect(convert('a.pdf', whole.subarray(0, whole.length / 2))).rejects.toThrow(/PDF/);
  });
});
