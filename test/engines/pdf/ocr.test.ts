import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { degrees, PDFDocument, PDFName, PDFString, StandardFonts } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderPage } from '../../../functions/engines/pdf/ocr/render.ts';
import { runPdf } from './harness.ts';

const run = promisify(execFile);
let folder: string;
const at = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ocr-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const english = ['The committee met on 14 March to discuss', 'the budget of 3,450 pounds.'];
const arabic = [
  'اجتمعت اللجنة في مارس لمناقشة',
  'ميزانية العام الجديد ورغم',
  'الأعضاء فقد قبل الاقتراح بأغلبية',
  'كبيرة توجد تفاصيل أخرى',
];

/** Draws lines as a scan at 150 dpi would show them, 360 × 144 points large. */
function scan(lines: string[], { tilt = 0 } = {}): Promise<Buffer> {
  const text = lines.map((line, index) => {
    const place = arabic.includes(line)
      ? 'x="700" direction="rtl" font-family="Noto Naskh Arabic" font-size="34"'
      : 'x="40"';
    return `<text ${place} y="${100 + 45 * index}">${line}</text>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="750" height="300" font-size="30" font-family="DejaVu Sans, Noto Naskh Arabic">
    <rect width="100%" height="100%" fill="white"/><g transform="rotate(${tilt})">${text.join('')}</g></svg>`;
  return sharp(Buffer.from(svg)).removeAlpha().withDensity(150).jpeg().toBuffer();
}

/** Makes a PDF of pages that are either a scan or a text. */
async function document(
  name: string,
  pages: ({ scan: Buffer } | { text: string })[],
  change?: (pdf: PDFDocument) => void,
) {
  const pdf = await PDFDocument.create();
  for (const content of pages) {
    const page = pdf.addPage([360, 144]);
    if ('scan' in content) page.drawImage(await pdf.embedJpg(content.scan), { x: 0, y: 0, width: 360, height: 144 });
    else page.drawText(content.text, { x: 20, y: 100, size: 14, font: await pdf.embedFont(StandardFonts.Helvetica) });
  }
  change?.(pdf);
  await writeFile(at(name), await pdf.save());
  return at(name);
}

async function recognise(path: string, options: Record<string, unknown> = { languages: 'eng' }) {
  const { outputs, details, warnings } = await runPdf('pdf/ocr', path, { options });
  const output = outputs[0]?.path ?? '';
  await run('qpdf', ['--check', output]);
  return { path: output, details, warnings, text: await textOf(output) };
}

async function textOf(path: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('pdftotext', ['-enc', 'UTF-8', ...args, path, '-']);
  // The controls that pdftotext puts around text from right to left.
  return stdout
    .replace(/[\u202a-\u202e]/g, '')
    .replace(/\n+/g, '\n')
    .trim();
}

/** Returns the places of words on the displayed page. */
async function wordsOf(path: string): Promise<Map<string, number[]>> {
  const text = await textOf(path, '-bbox', '-cropbox');
  const words = text.matchAll(/<word xMin="(\S+)" yMin="(\S+)" xMax="(\S+)" yMax="(\S+)">(.*)<\/word>/g);
  return new Map(
    [...words].map(([, left, top, right, bottom, word = '']) => [word, [left, top, right, bottom].map(Number)]),
  );
}

describe('scans by several producers become searchable, and look as before', () => {
  const producers: Record<string, () => Promise<string>> = {
    'pdf-lib': async () => document('plain.pdf', [{ scan: await scan(english) }]),
    Ghostscript: async () => {
      await document('gs-source.pdf', [{ scan: await scan(english) }]);
      await run('gs', ['-q', '-o', at('gs.pdf'), '-sDEVICE=pdfimage8', '-r200', at('gs-source.pdf')]);
      return at('gs.pdf');
    },
    cairo: async () => {
      const image = (await scan(english)).toString('base64');
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="192"><image width="480" height="192" href="data:image/jpeg;base64,${image}"/></svg>`;
      await writeFile(at('cairo.svg'), svg);
      await run('rsvg-convert', ['-f', 'pdf', '-o', at('cairo.pdf'), at('cairo.svg')]);
      return at('cairo.pdf');
    },
  };

  test.each(Object.keys(producers))('%s', async (producer) => {
    const source = (await producers[producer]?.()) ?? '';
    const { path, text, details } = await recognise(source);
    expect(text).toBe(english.join('\n'));
    expect(details).toMatchObject({ pages: 1, recognised_pages: 1, languages: ['eng'] });
    expect(await pixels(path)).toEqual(await pixels(source));
  });
});

async function pixels(path: string): Promise<Buffer> {
  await run('pdftoppm', ['-r', '72', '-singlefile', '-gray', path, `${path}-view`]);
  return readFile(`${path}-view.pgm`);
}

test('words are where they are seen, on rotated, cropped and tilted pages too', async () => {
  const straight = await document('straight.pdf', [{ scan: await scan(english) }]);
  const turned = await document(
    'turned.pdf',
    [
      {
        scan: await sharp(await scan(english))
          .rotate(90)
          .toBuffer(),
      },
    ],
    (pdf) => {
      const page = pdf.getPage(0);
      page.setRotation(degrees(270));
      page.setMediaBox(0, 0, 360, 144);
    },
  );
  const cropped = await document('cropped.pdf', [{ scan: await scan(english) }], (pdf) =>
    pdf.getPage(0).setCropBox(10, 14, 350, 130),
  );
  const tilted = await document('tilted.pdf', [{ scan: await scan(english, { tilt: 2 }) }]);
  const places = await Promise.all(
    [straight, cropped, tilted].map(async (path) => wordsOf((await recognise(path)).path)),
  );
  const [plain, inCrop, onSlope] = places.map((words) => words.get('committee') ?? []);
  const budget = places.map((words) => words.get('budget') ?? []);

  // Drawn from 40 pixels at 150 dpi; the word starts after "The".
  expect(plain?.[0]).toBeGreaterThan(45);
  expect(plain?.[0]).toBeLessThan(56);
  expect(plain?.[3]).toBeGreaterThan(46);
  expect(plain?.[3]).toBeLessThan(54);
  expect(Math.abs((inCrop?.[0] ?? 0) + 10 - (plain?.[0] ?? 0))).toBeLessThan(1);
  // A crop box from 14 to 144 of 144 points leaves the top where it is.
  expect(Math.abs((inCrop?.[3] ?? 0) - (plain?.[3] ?? 0))).toBeLessThan(1.5);
  expect(onSlope?.[1]).toBeGreaterThan(plain?.[1] ?? 0);
  expect(budget.map(([left]) => Math.round((left ?? 0) / 8))).toHaveLength(3);
  expect((await recognise(turned)).details).toMatchObject({ recognised_pages: 1 });
});

test('only pages without text are recognised, and links and bookmarks stay', async () => {
  const source = await document(
    'mixed.pdf',
    [{ text: 'Text of the first page' }, { scan: await scan(english) }, { text: 'Text of the last page' }],
    (pdf) => {
      const link = pdf.context.obj({ Type: 'Annot', Subtype: 'Link', Rect: [0, 0, 50, 50], Border: [0, 0, 0] });
      link.set(PDFName.of('A'), pdf.context.obj({ S: 'URI', URI: PDFString.of('https://example.com/') }));
      pdf.getPage(1).node.addAnnot(pdf.context.register(link));
    },
  );
  const { path, text, details } = await recognise(source);
  expect(text.split('\f').map((page) => page.trim())).toEqual([
    'Text of the first page',
    english.join('\n'),
    'Text of the last page',
  ]);
  expect(details).toMatchObject({ pages: 3, recognised_pages: 1 });
  const annotations = (await PDFDocument.load(await readFile(path))).getPage(1).node.Annots()?.size();
  expect(annotations).toBe(1);
  const again = await recognise(path);
  expect(again.details).toMatchObject({ recognised_pages: 0 });
});

test('the invisible text of an earlier recognition is left alone, or replaced on request', async () => {
  await writeFile(at('earlier.jpg'), await scan(english));
  await run('tesseract', [at('earlier.jpg'), at('earlier'), '-l', 'rus', '--dpi', '150', 'pdf']);
  const kept = await recognise(at('earlier.pdf'));
  const redone = await recognise(at('earlier.pdf'), { languages: 'eng', existing_text: 'redo' });
  expect(kept.details).toMatchObject({ recognised_pages: 0 });
  expect(redone.text).toBe(english.join('\n'));
});

test('a script from right to left is found, and reads in its order', async () => {
  const { text, details } = await recognise(await document('arabic.pdf', [{ scan: await scan(arabic) }]), {});
  expect(details).toMatchObject({ languages: ['ara'] });
  // Tesseract misses the first line of a short text.
  expect(text).toContain(arabic.slice(1).join('\n'));
});

test('pictures and TIFFs of several pages become PDFs with text, or text', async () => {
  const page = sharp(await scan(english)).greyscale();
  const raw = await page.raw().toBuffer();
  const pages = sharp(Buffer.concat([raw, raw]), { raw: { width: 750, height: 600, channels: 1, pageHeight: 300 } });
  await pages.withDensity(150).tiff().toFile(at('pages.tiff'));
  await writeFile(at('photo.jpg'), await scan(english));
  const tiff = await recognise(at('pages.tiff'));
  const { outputs } = await runPdf('pdf/ocr', at('photo.jpg'), { options: { languages: 'eng' }, outputFormat: 'txt' });

  expect(tiff.details).toMatchObject({ pages: 2, recognised_pages: 2 });
  expect(tiff.text.split('\f').map((text) => text.trim())).toEqual([english.join('\n'), english.join('\n')]);
  expect((await readFile(outputs[0]?.path ?? '', 'utf8')).trim().split(/\n+/)).toEqual(english);
});

test('readers that use the widths in the font see words as wholes', async () => {
  const { path } = await recognise(await document('widths.pdf', [{ scan: await scan(english) }]));
  const { stdout } = await run('mutool', ['draw', '-q', '-F', 'txt', path]);
  expect(stdout.trim()).toBe(english.join('\n'));
});

test('text of columns has their order, and no spaces between characters of Japanese', async () => {
  const left = ['The committee met', 'again in the old', 'harbour. It rained', 'for nine days and', 'nights.'];
  const right = [
    'Nobody expected',
    'the bridge to open',
    'before the winter.',
    'The ferry ran every',
    'twenty minutes.',
  ];
  const lines = [left, right].map((column, across) =>
    column.map((line, index) => `<text x="${40 + 420 * across}" y="${60 + 62 * index}">${line}</text>`),
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="860" height="520" font-size="30" font-family="DejaVu Sans"><rect width="100%" height="100%" fill="white"/>${lines.join('')}</svg>`;
  await sharp(Buffer.from(svg)).withDensity(200).png().toFile(at('columns.png'));
  const japanese = svg.replace(
    /<text.*<\/text>/,
    '<text x="40" y="150" font-family="Noto Sans CJK JP">古い橋の修理について話し合いました。</text>',
  );
  await sharp(Buffer.from(japanese)).withDensity(200).png().toFile(at('japanese.png'));
  const textOfPicture = async (name: string, languages: string) => {
    const { outputs } = await runPdf('pdf/ocr', at(name), { options: { languages }, outputFormat: 'txt' });
    return (await readFile(outputs[0]?.path ?? '', 'utf8')).trim();
  };

  expect((await textOfPicture('columns.png', 'eng')).split(/\s+/).join(' ')).toBe([...left, ...right].join(' '));
  expect(await textOfPicture('japanese.png', 'jpn')).toBe('古い橋の修理について話し合いました。');
});

test('scans are recognised with their own pixels', async () => {
  const source = await sharp(await scan(english))
    .greyscale()
    .png()
    .toBuffer();
  const pdf = await PDFDocument.create();
  pdf.addPage([360, 144]).drawImage(await pdf.embedPng(source), { x: 0, y: 0, width: 360, height: 144 });
  await writeFile(at('sharp.pdf'), await pdf.save());
  const space = { folder, signal: new AbortController().signal };
  const rendered = await renderPage(at('sharp.pdf'), 1, { dpi: 150, grey: true }, space);
  const [one, other] = await Promise.all([rendered, source].map((each) => sharp(each).greyscale().raw().toBuffer()));
  expect(one?.compare(other ?? Buffer.of())).toBe(0);
});

describe('fails with what to do', () => {
  test.each([
    ['a language that is not installed', { languages: 'eng+tlh' }, /tlh is not installed .* eng/],
    ['a signed file', {}, /invalidate_digital_signatures/],
  ])('%s', async (_, options, expected) => {
    const source = await document('signed.pdf', [{ text: 'Signed' }], (pdf) => {
      const field = pdf.context.obj({ Type: 'Annot', Subtype: 'Widget', Rect: [0, 0, 0, 0], FT: 'Sig' });
      field.set(PDFName.of('V'), pdf.context.register(pdf.context.obj({ Type: 'Sig', Filter: 'Adobe.PPKLite' })));
      field.set(PDFName.of('T'), PDFString.of('Signature'));
      const reference = pdf.context.register(field);
      pdf.getPage(0).node.addAnnot(reference);
      pdf.catalog.set(PDFName.of('AcroForm'), pdf.context.obj({ Fields: [reference], SigFlags: 3 }));
    });
    await expect(runPdf('pdf/ocr', source, { options })).rejects.toThrow(expected);
    const allowed = await recognise(source, { invalidate_digital_signatures: true });
    expect(allowed.warnings?.join()).toMatch(/signatures were removed/);
  });

  test('a file that is truncated, or needs a password', async () => {
    const whole = await readFile(await document('whole.pdf', [{ text: 'Whole' }]));
    await writeFile(at('cut.pdf'), whole.subarray(0, 200));
    await run('qpdf', ['--encrypt', 'a', 'b', '256', '--', at('whole.pdf'), at('locked.pdf')]);
    await expect(runPdf('pdf/ocr', at('cut.pdf'))).rejects.toThrow(/damaged or incomplete/);
    await expect(runPdf('pdf/ocr', at('locked.pdf'))).rejects.toThrow(/password-protected/);
  });
});
