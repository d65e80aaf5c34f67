import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  degrees,
  PDFHexString,
  PDFName,
  PDFString,
  StandardFonts,
  setTextRenderingMode,
  TextRenderingMode,
} from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { byPdfLib, chapters, expectSound, folderOfFile, only, pageTexts, render, runPdf } from './harness.ts';

const run = promisify(execFile);
const place = folderOfFile();
let made: Awaited<ReturnType<typeof chapters>>;

beforeAll(async () => {
  made = await chapters(place.path, 2);
});

const producers = ['LibreOffice', 'Chromium', 'Ghostscript', 'pdf-lib'] as const;

describe('documents of several producers', () => {
  it.each(producers)('lose texts, whose neighbours stay in place, of %s', async (producer) => {
    const result = await runPdf('pdf/redact', made[producer], { options: { text: 'of page\nHapter 2' } });
    const path = only(result);

    await expectSound(path);
    const texts = await pageTexts(path);
    expect(texts.join()).not.toMatch(/of page|Chapter 2/);
    expect(texts[0]).toMatch(/Chapter 1\s+Words +1\./);
    expect(result.details).toMatchObject({ redactions: { total: 3, pages: [{ count: 1 }, { count: 2 }] } });
  });

  it.each(producers)('lose what is in an area, of %s', async (producer) => {
    const path = only(await runPdf('pdf/redact', made[producer], { options: { areas: '2:0,0,595,165' } }));

    await expectSound(path);
    const [first = '', second = ''] = await pageTexts(path);
    expect(first).toContain('Chapter 1');
    expect(second).not.toContain('Chapter');
    expect((await render(path, 2)).at(300, 80)).toEqual([0, 0, 0]);
  });
});

it('fails if nothing is found, or no option says what to remove', async () => {
  const options = { text: 'absent' };
  await expect(runPdf('pdf/redact', made['pdf-lib'], { options })).rejects.toThrow(/Nothing was found/);
  const { warnings } = await runPdf('pdf/redact', made['pdf-lib'], {
    options: { ...options, if_nothing_found: 'warn' },
  });
  expect(warnings).toEqual(['Nothing was found to remove.']);
  await expect(runPdf('pdf/redact', made['pdf-lib'])).rejects.toThrow(/Set text, pattern, regex or areas/);
});

it('says what to do if recognition finds no text on a page, as in a photo', async () => {
  const sky = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><rect width="400" height="300" fill="#8bd"/><circle cx="120" cy="90" r="40" fill="#fe8"/></svg>`;
  const photo = await sharp(Buffer.from(sky)).jpeg().toBuffer();
  const path = await byPdfLib(join(place.path, 'photo.pdf'), async (document) => {
    document.addPage([595, 842]).drawText('Words of page 1', { x: 72, y: 700, size: 14 });
    document.addPage([595, 842]).drawImage(await document.embedJpg(photo), { x: 72, y: 400, width: 400, height: 300 });
  });
  const recognised = only(await runPdf('pdf/ocr', path, { options: { languages: 'eng' } }));
  const options = { text: 'Words' };

  await expect(runPdf('pdf/redact', recognised, { options })).rejects.toThrow(
    /^Page 2 could not be searched.*If that finds no text, as in a photo, set if_unreadable to warn/,
  );
  const { outputs, warnings } = await runPdf('pdf/redact', recognised, {
    options: { ...options, if_unreadable: 'warn' },
  });
  expect(warnings).toEqual([expect.stringMatching(/^Page 2 could not be searched/)]);
  expect((await pageTexts(outputs[0]?.path ?? ''))[0]).toMatch(/^of page 1/);
});

/** A page with text in a form, a link, a bookmark, tags, metadata and an attachment, and a scan with an invisible text layer. */
async function everywhere(path: string): Promise<string> {
  const secret = 'Wanda Klein';
  return byPdfLib(path, async (document) => {
    document.setTitle(`Letter of ${secret}`);
    document.setSubject('Unrelated');
    await document.attach(Buffer.from(`About ${secret}`), `${secret}.txt`);
    const page = document.addPage([595, 842]);
    const font = await document.embedFont(StandardFonts.Helvetica);
    page.drawText('Dear Wan', { x: 72, y: 700, size: 14, font });
    page.drawText('da Klein, hello', { x: 72 + font.widthOfTextAtSize('Dear Wan', 14), y: 700, size: 14, font });
    page.drawText(secret, { x: 400, y: 300, size: 14, font, rotate: degrees(90) });
    page.drawText(secret, { x: 200, y: 100, size: 14, font, opacity: 0 });
    const field = document.getForm().createTextField('person');
    field.setText(`Name: ${secret}`);
    field.addToPage(page, { x: 72, y: 600, width: 200, height: 24 });
    const scan = document.addPage([595, 842]);
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1190" height="1684"><rect width="1190" height="1684" fill="#fff"/><text x="144" y="284" font-size="40" font-family="DejaVu Sans">Signed by ${secret} today</text></svg>`;
    const image = await document.embedJpg(await sharp(Buffer.from(svg)).jpeg().toBuffer());
    scan.drawImage(image, { x: 0, y: 0, width: 595, height: 842 });
    scan.pushOperators(setTextRenderingMode(TextRenderingMode.Invisible));
    scan.drawText(`Signed by ${secret} today`, { x: 72, y: 700, size: 20.2, font });
    scan.pushOperators(setTextRenderingMode(TextRenderingMode.Fill));
    const { context, catalog } = document;
    const item = context.nextRef();
    const outlines = context.register(context.obj({ Type: 'Outlines', First: item, Last: item, Count: 1 }));
    context.assign(
      item,
      context.obj({ Title: PDFHexString.fromText(secret), Parent: outlines, Dest: [page.ref, 'Fit'] }),
    );
    catalog.set(PDFName.of('Outlines'), outlines);
    const xmp = `<?xpacket begin=""?><x:xmpmeta xmlns:x="adobe:ns:meta/"><dc:title>Wanda&#32;Klein</dc:title></x:xmpmeta>`;
    catalog.set(PDFName.of('Metadata'), context.register(context.stream(xmp, { Type: 'Metadata', Subtype: 'XML' })));
    const link = {
      Type: 'Annot',
      Subtype: 'Link',
      Rect: [72, 690, 300, 715],
      A: { S: 'URI', URI: PDFString.of('https://example.com/Wanda%20Klein') },
    };
    page.node.set(PDFName.of('PieceInfo'), context.obj({ Some: { Private: PDFString.of(secret) } }));
    page.node.addAnnot(context.register(context.obj(link)));
  });
}

/** Returns all that the file holds: uncompressed objects, metadata and text. */
async function contentsOfFile(path: string): Promise<string> {
  const outputs = await Promise.all([
    run('qpdf', ['--qdf', '--object-streams=disable', path, '-'], { encoding: 'latin1', maxBuffer: 2 ** 28 }),
    run('pdftotext', [path, '-']),
    run('pdfinfo', ['-dests', path]),
    run('pdfdetach', ['-list', path]),
  ]);
  return outputs.map(({ stdout }) => stdout).join('\n');
}

it('removes a text from everything that a file holds', async () => {
  const before = await everywhere(join(place.path, 'everywhere.pdf'));
  const result = await runPdf('pdf/redact', before, { options: { text: 'wanda klein' } });
  const path = only(result);

  await expectSound(path);
  const contents = await contentsOfFile(path);
  expect(contents).not.toMatch(/Wanda|Klein|57616e6461|570061006e00640061/i);
  expect(contents).toMatch(/Signed by/);
  expect(contents).toContain('Unrelated');
  expect(result.warnings?.join()).toMatch(/Attached files were removed: \.txt/);
  const page = await render(path, 2, 144);
  expect(page.at(400, 270)).toEqual([0, 0, 0]);
  const { stdout } = await run('pdfimages', ['-list', path]);
  expect(stdout).toMatch(/1190 +1684/);
  // The pixels themselves, not what is over them.
  const folder = await mkdtemp(join(place.path, 'images-'));
  await run('pdfimages', ['-f', '2', '-png', path, join(folder, 'image')]);
  const { data, info } = await sharp(join(folder, 'image-000.png')).raw().toBuffer({ resolveWithObject: true });
  expect(data[info.channels * (270 * info.width + 400)]).toBeLessThan(20);
});
