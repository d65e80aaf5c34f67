import { execFile } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PDFDocument, rgb, StandardFonts } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { leaveToBreadth } from '../../support/breadth.ts';
import { type PictureFacts, pictureFacts, pixelAt } from '../picture-facts.ts';
import { only, placeOfFile, runEngine } from './harness.ts';
import { makePhotoPdf } from './photo-pdf.ts';
import { flatOdf, makeSample, unzip, words } from './samples.ts';

leaveToBreadth([
  'meets 90 per cent of the size of pages with photographs',
  'meets 70 per cent of the size of pages with photographs',
  'meets 30 per cent of the size of pages with photographs',
  'meets 80 per cent of the size of one kind of picture',
  'meets 20 per cent of the size of one kind of picture',
  'sets a password on a odt and opens it again',
  'draws a page larger rather than enlarging its picture, with {"image_custom_width":1600}',
  'draws a page larger rather than enlarging its picture, with {"image_resize_percentage":400}',
  'draws pages as jpg by the options of a picture: {"quality":30,"progressive":true}',
  'draws pages as jpg by the options of a picture: {"jpg_convert_compression_level":10}',
  'makes a smaller picture of lower jpg_convert_compression_level',
  'measures from the page as it is shown when it is rotated by 180',
  'measures from the page as it is shown when it is rotated by 270',
]);

const run = promisify(execFile);
const place = placeOfFile();
let fivePages = '';
/** Three pages with an orange bar. */
let coloured = '';
let photos = '';

beforeAll(async () => {
  fivePages = at('five.pdf');
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (let page = 1; page <= 5; page++)
    document.addPage([400, 300]).drawText(`Page number ${page}`, { x: 50, y: 200, font });
  await writeFile(fivePages, await document.save());
  coloured = at('coloured.pdf');
  const bars = await PDFDocument.create();
  for (let page = 1; page <= 3; page++)
    bars.addPage([400, 300]).drawRectangle({ x: 50, y: 50, width: 300, height: 90, color: rgb(1, 0.4, 0) });
  await writeFile(coloured, await bars.save());
  photos = at('photos.pdf');
  await writeFile(photos, await pdfOfPhotos());
});

const at = (name: string) => join(place.folder, name);

async function pdfOfPhotos(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  for (let index = 0; index < 2; index++) {
    const size = 1200;
    const noise = { type: 'gaussian' as const, mean: 128, sigma: 30 };
    const grain = await sharp({ create: { width: size, height: size, channels: 3, background: '#888888', noise } })
      .blur(1.2)
      .jpeg({ quality: 95 })
      .toBuffer();
    document.addPage([300, 300]).drawImage(await document.embedJpg(grain), { x: 0, y: 0, width: 300, height: 300 });
  }
  return document.save();
}

async function pdfText(path: string): Promise<string> {
  return (await run('pdftotext', [path, '-'])).stdout;
}

async function pdfInfo(path: string): Promise<string> {
  return (await run('pdfinfo', [path])).stdout;
}

describe('pages', () => {
  it('keeps the pages of a range in their order', async () => {
    const path = only(await runEngine(fivePages, 'pdf', 'pdf', { page_range: '4-,2' }));

    expect([...(await pdfText(path)).matchAll(/number (\d)/g)].map((match) => match[1])).toEqual(['4', '5', '2']);
  });

  it('draws each page to a file of its own, numbered', async () => {
    const { outputs, progress } = await runEngine(fivePages, 'pdf', 'png', { page_range: '2-3', image_dpi: 72 });

    expect(outputs.map(({ name }) => name)).toEqual(['five-2.png', 'five-3.png']);
    const [first] = outputs;
    expect(await sharp(first?.path).metadata()).toMatchObject({ width: 400, height: 300, format: 'png' });
    expect(progress.at(-1)).toBe(100);
  });

  it('draws one page to a file of the plain name', async () => {
    const { outputs } = await runEngine(fivePages, 'pdf', 'jpg', { page_range: '5' });

    expect(outputs.map(({ name }) => name)).toEqual(['five.jpg']);
  });

  it('draws at the resolution asked for', async () => {
    const [coarse, fine] = await Promise.all(
      [50, 200].map(async (image_dpi) =>
        sharp(only(await runEngine(fivePages, 'pdf', 'webp', { page_range: '1', image_dpi }))).metadata(),
      ),
    );

    expect([coarse?.width, fine?.width]).toEqual([278, 1112]);
  });

  it.each(['quality', 'jpg_convert_compression_level'])('makes a smaller picture of lower %s', async (name) => {
    const sizes = await Promise.all(
      [20, 95].map(
        async (value) =>
          (await stat(only(await runEngine(photos, 'pdf', 'jpg', { page_range: '1', [name]: value })))).size,
      ),
    );

    expect(sizes[0]).toBeLessThan((sizes[1] ?? 0) / 2);
  });

  it.each<[string, Record<string, unknown>, Partial<PictureFacts>]>([
    ['png', { png_compression_level: 'lossy', png_convert_quality: 60 }, { size: '834x625', type: 'Palette' }],
    ['png', { image_custom_width: 300, progressive: true, strip: false }, { size: '300x225', interlace: 'PNG' }],
    ['png', { image_dpi: 72, image_resize_percentage: 25, color_space: 'gray' }, { size: '100x75', type: 'Grayscale' }],
    ['jpg', { jpg_convert_compression_level: 10 }, { quality: 10 }],
    ['jpg', { quality: 30, progressive: true }, { quality: 30, interlace: 'JPEG', density: 150 }],
    ['jpg', { image_custom_width: 99, image_custom_height: 99, fit: 'pad' }, { quality: 85, size: '99x99' }],
    ['webp', { image_custom_height: 75, flip: 'both' }, { format: 'WEBP', size: '100x75' }],
    ['tiff', {}, { compression: 'Zip', density: 150 }],
    ['tiff', { tiff_compression: 'jpeg', image_dpi: 72 }, { compression: 'JPEG', size: '400x300', density: 72 }],
  ])('draws pages as %s by the options of a picture: %j', async (format, options, facts) => {
    const { outputs } = await runEngine(coloured, 'pdf', format, { page_range: '1-2', ...options });

    const files = format === 'tiff' ? ['coloured.tiff'] : [`coloured-1.${format}`, `coloured-2.${format}`];
    expect(outputs.map(({ name }) => name)).toEqual(files);
    for (const { path } of outputs) expect(await pictureFacts(path)).toMatchObject(facts);
  });

  it.each([{ image_custom_width: 1600 }, { image_resize_percentage: 400 }, { rotate: 90, image_custom_height: 1600 }])(
    'draws a page larger rather than enlarging its picture, with %j',
    async (options) => {
      const path = only(await runEngine(fivePages, 'pdf', 'png', { page_range: '1', image_dpi: 72, ...options }));
      const fine = only(await runEngine(fivePages, 'pdf', 'png', { page_range: '1', image_dpi: 288 }));

      const turned = await sharp(fine)
        .rotate('rotate' in options ? 90 : 0)
        .removeAlpha()
        .raw()
        .toBuffer();
      expect((await sharp(path).removeAlpha().raw().toBuffer()).equals(turned)).toBe(true);
    },
  );

  it('draws on paper of the background', async () => {
    const path = only(await runEngine(fivePages, 'pdf', 'png', { page_range: '1', background: '#ffee88', rotate: 45 }));

    expect(await pixelAt(path, 5, 5)).toEqual([255, 238, 136, 255]);
    expect(await pixelAt(path, 500, 400)).toEqual([255, 238, 136, 255]);
  });

  it('refuses a size that would need too many pixels', async () => {
    await expect(runEngine(fivePages, 'pdf', 'png', { image_custom_width: 16_000 })).rejects.toThrow(
      /more than 120 million pixels. Choose a smaller size/,
    );
  });

  it('extracts text in columns as they stand when the layout is kept', async () => {
    const document = await PDFDocument.create();
    const font = await document.embedFont(StandardFonts.Helvetica);
    const page = document.addPage([400, 200]);
    for (const [row, y] of [150, 120].entries()) {
      page.drawText(`left${row}`, { x: 20, y, font });
      page.drawText(`right${row}`, { x: 300, y, font });
    }
    await writeFile(at('columns.pdf'), await document.save());

    const kept = await readFile(only(await runEngine(at('columns.pdf'), 'pdf', 'txt', { keep_layout: true })), 'utf8');

    expect(kept).toMatch(/left0 {3,}right0\n+.*left1 {3,}right1/);
  });
});

describe('paper', () => {
  it.each([
    [{ page_size: 'a5' }, [420, 595]],
    [{ page_size: 'a3', page_orientation: 'landscape' }, [1191, 842]],
    [{ page_orientation: 'landscape' }, [842, 595]],
  ])('lays a text out on %o', async (options, [width, height]) => {
    const document = at('paper.fodt');
    const layout = `<office:automatic-styles><style:page-layout style:name="P"><style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm"/></style:page-layout></office:automatic-styles><office:master-styles><style:master-page style:name="Standard" style:page-layout-name="P"/></office:master-styles>`;
    await writeFile(document, flatOdf('text', '<office:text><text:p>Lathe</text:p></office:text>', layout));

    const info = await pdfInfo(only(await runEngine(document, 'fodt', 'pdf', options)));

    const [, found, tall] = /Page size:\s+([\d.]+) x ([\d.]+)/.exec(info) ?? [];
    expect([Math.round(Number(found)), Math.round(Number(tall))]).toEqual([width, height]);
  });

  it('lays a sheet out in landscape', async () => {
    const info = await pdfInfo(
      only(
        await runEngine(await makeSample('xlsx', place.folder), 'xlsx', 'pdf', {
          page_orientation: 'landscape',
          page_size: 'a4',
        }),
      ),
    );

    expect(info).toMatch(/Page size:\s+84\d(\.\d+)? x 595/);
  });
});

describe('PDF/A', () => {
  it.each([
    ['1b', '1'],
    ['2b', '2'],
    ['3b', '3'],
  ])('declares part %s in what LibreOffice writes', async (pdf_a, part) => {
    const path = only(await runEngine(await makeSample('docx', place.folder), 'docx', 'pdf', { pdf_a }));
    const bytes = (await readFile(path)).toString('latin1');

    expect(bytes).toMatch(new RegExp(`pdfaid:part>${part}<|pdfaid:part="${part}"`));
    expect(bytes).toContain('/OutputIntent');
    expect(await pdfText(path)).toContain('Größe');
  });

  it('declares the part in a PDF that is made over', async () => {
    const path = only(await runEngine(fivePages, 'pdf', 'pdf', { pdf_a: '2b', page_range: '1-2' }));
    const bytes = (await readFile(path)).toString('latin1');

    expect(bytes).toMatch(/pdfaid:part(>|=')2|pdfaid:part="2"/);
    expect(bytes).toContain('GTS_PDFA1');
    expect(await pdfText(path)).toContain('number 2');
    expect((await run('pdffonts', [path])).stdout).toMatch(/ yes (yes|no) /);
  });

  it('cannot be combined with a password', async () => {
    await expect(runEngine(fivePages, 'pdf', 'pdf', { pdf_a: '2b', output_password: 'x' })).rejects.toThrow(
      /cannot be combined/,
    );
  });
});

describe('passwords', () => {
  it('sets a password on a PDF and opens it again', async () => {
    const locked = only(await runEngine(fivePages, 'pdf', 'pdf', { output_password: 'Schlüssel 漢' }));

    await expect(run('pdfinfo', [locked])).rejects.toThrow(/Incorrect password/);
    await expect(runEngine(locked, 'pdf', 'txt')).rejects.toThrow(/password-protected/);
    await expect(runEngine(locked, 'pdf', 'txt', { password: 'wrong' })).rejects.toThrow(/does not open/);
    expect(await readFile(only(await runEngine(locked, 'pdf', 'txt', { password: 'Schlüssel 漢' })), 'utf8')).toContain(
      'number 5',
    );
  });

  it.each(['docx', 'odt'])('sets a password on a %s and opens it again', async (format) => {
    const source = await makeSample('fodt', place.folder);
    const locked = only(await runEngine(source, 'fodt', format, { output_password: 'geheim' }));

    await expect(runEngine(locked, format, 'pdf')).rejects.toThrow(/password-protected/);
    await expect(runEngine(locked, format, 'pdf', { password: 'wrong' })).rejects.toThrow(/does not open/);
    expect(await pdfText(only(await runEngine(locked, format, 'pdf', { password: 'geheim' })))).toContain(words[1]);
  });

  it('opens a protected xlsx', async () => {
    const locked = only(
      await runEngine(await makeSample('fods', place.folder), 'fods', 'xlsx', { output_password: 'geheim' }),
    );

    const opened = only(await runEngine(locked, 'xlsx', 'csv', { password: 'geheim' }));

    expect(await readFile(opened, 'utf8')).toContain('Größe,42.5');
  });
});

describe('pictures inside a PDF', () => {
  const withPicture = async () => {
    const noise = { type: 'gaussian' as const, mean: 128, sigma: 40 };
    const picture = await sharp({ create: { width: 900, height: 900, channels: 3, background: '#888888', noise } })
      .png()
      .toBuffer();
    const path = at('picture.fodt');
    await writeFile(
      path,
      flatOdf(
        'text',
        `<office:text><text:p><draw:frame text:anchor-type="as-char" svg:width="5cm" svg:height="5cm"><draw:image><office:binary-data>${picture.toString('base64')}</office:binary-data></draw:image></draw:frame></text:p></office:text>`,
      ),
    );
    return path;
  };

  it('are reduced to a resolution', async () => {
    const path = only(await runEngine(await withPicture(), 'fodt', 'pdf', { image_resolution: 75 }));

    const [, width] = /image\s+(\d+)\s+\d+/.exec((await run('pdfimages', ['-list', path])).stdout) ?? [];
    expect(Number(width)).toBeLessThan(200);
  });

  it('are smaller at a lower quality', async () => {
    const source = await withPicture();
    const low = await stat(only(await runEngine(source, 'fodt', 'pdf', { image_quality: 10 })));
    const high = await stat(only(await runEngine(source, 'fodt', 'pdf', { image_quality: 95 })));

    expect(low.size).toBeLessThan(high.size / 2);
  });
});

describe('sheets', () => {
  const two = async () => {
    const path = at('two.fods');
    const table = (name: string, text: string) =>
      `<table:table table:name="${name}"><table:table-row><table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="1.5"><text:p>1.5</text:p></table:table-cell></table:table-row></table:table>`;
    await writeFile(
      path,
      flatOdf(
        'spreadsheet',
        `<office:spreadsheet>${table('First', 'äpfel')}${table('Second', 'birnen')}</office:spreadsheet>`,
      ),
    );
    return path;
  };

  it('give a file each, named for them', async () => {
    const { outputs } = await runEngine(await two(), 'fods', 'csv');

    expect(outputs.map(({ name }) => name)).toEqual(['two-First.csv', 'two-Second.csv']);
    expect(await Promise.all(outputs.map(({ path }) => readFile(path, 'utf8')))).toEqual([
      'äpfel,1.5\n',
      'birnen,1.5\n',
    ]);
  });

  it('are chosen by number', async () => {
    expect(await readFile(only(await runEngine(await two(), 'fods', 'csv', { sheet: 2 })), 'utf8')).toBe(
      'birnen,1.5\n',
    );
  });

  it.each([
    ['semicolon', 'äpfel;1.5\n'],
    ['tab', 'äpfel\t1.5\n'],
    ['pipe', 'äpfel|1.5\n'],
  ])('are written with a %s between fields', async (csv_delimiter, expected) => {
    expect(await readFile(only(await runEngine(await two(), 'fods', 'csv', { csv_delimiter, sheet: 1 })), 'utf8')).toBe(
      expected,
    );
  });

  it.each([
    ['utf-8-bom', Buffer.from('\ufeffäpfel,1.5\n')],
    ['utf-16le', Buffer.from('\ufeffäpfel,1.5\n', 'utf16le')],
    ['windows-1252', Buffer.from('äpfel,1.5\n', 'latin1')],
  ])('are written in %s', async (encoding, expected) => {
    expect(await readFile(only(await runEngine(await two(), 'fods', 'csv', { encoding, sheet: 1 })))).toEqual(expected);
  });

  it.each([
    ['a;b\nä;2\n', {}],
    ['a|b\nä|2\n', { csv_delimiter: 'pipe' }],
    ['a\tb\nä\t2\n', {}],
  ])('are read from %j', async (text, options) => {
    await writeFile(at('delimited.csv'), text);

    expect(await readFile(only(await runEngine(at('delimited.csv'), 'csv', 'tsv', options)), 'utf8')).toBe(
      'a\tb\nä\t2\n',
    );
  });

  it('are read in the encoding that is named', async () => {
    await writeFile(at('cyrillic.csv'), Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x2c, 0x31]));

    expect(
      await readFile(
        only(await runEngine(at('cyrillic.csv'), 'csv', 'tsv', { input_encoding: 'windows-1251' })),
        'utf8',
      ),
    ).toBe('Привет\t1\n');
  });
});

describe('text encodings', () => {
  it.each([
    ['utf-16 by its mark', Buffer.from('\ufeffGröße漢', 'utf16le'), {}, 'Größe'],
    ['Western European by itself', Buffer.from('Größe', 'latin1'), {}, 'Größe'],
    ['Japanese by name', Buffer.from([0x8a, 0xbf, 0x8e, 0x9a]), { input_encoding: 'shift_jis' }, '漢字'],
  ])('reads %s', async (_, bytes, options, expected) => {
    await writeFile(at('encoded.txt'), bytes);

    const parts = await unzip(only(await runEngine(at('encoded.txt'), 'txt', 'docx', options)));

    expect(parts['word/document.xml']?.toString()).toContain(expected);
  });
});

describe('compress', () => {
  it.each(['screen', 'ebook', 'printer'])('makes photographs smaller for %s', async (pdf_compress_quality) => {
    const { outputs, details } = await runEngine(photos, 'pdf', 'pdf', { pdf_compress_quality }, 'compress');

    const size = (await stat(outputs[0]?.path ?? '')).size;
    expect(details).toMatchObject({ size_before: (await stat(photos)).size, size_after: size });
    expect(size).toBeLessThan((await stat(photos)).size);
  });

  const byPercentage = (path: string, percentage: number) =>
    runEngine(path, 'pdf', 'pdf', { compress_pdf: 'by_percentage', pdf_compress_percentage: percentage }, 'compress');

  it.each([90, 70, 50, 30, 12])('meets %s per cent of the size of pages with photographs', async (percentage) => {
    const path = at('pages.pdf');
    await writeFile(path, await makePhotoPdf());
    const target = Math.floor(((await stat(path)).size * percentage) / 100);

    const result = await byPercentage(path, percentage);

    const { size } = await stat(only(result));
    expect(result.details).toEqual({ size_before: (await stat(path)).size, size_after: size });
    expect(size).toBeLessThanOrEqual(target);
    expect(size).toBeGreaterThanOrEqual(target * 0.95);
    expect(await pdfText(only(result))).toContain('Line 39 of a page');
    expect(await pdfInfo(only(result))).toMatch(/Pages:\s+4/);
  });

  it.each([80, 50, 20])('meets %s per cent of the size of one kind of picture', async (percentage) => {
    const before = (await stat(photos)).size;

    const result = await byPercentage(photos, percentage);

    const share = (await stat(only(result))).size / ((before * percentage) / 100);
    expect(share).toBeLessThanOrEqual(1);
    expect(share).toBeGreaterThanOrEqual(0.95);
  });

  it('stops at the best quality if a size is met losslessly', async () => {
    const document = await PDFDocument.create();
    const font = await document.embedFont(StandardFonts.Helvetica);
    const page = document.addPage([595, 842]);
    for (let line = 0; line < 200; line++)
      page.drawText(`Line number ${line}`, { x: 20, y: 820 - line * 4, size: 4, font });
    await writeFile(at('packed.pdf'), await document.save());
    const path = at('loose.pdf');
    await run('qpdf', ['--qdf', '--stream-data=uncompress', at('packed.pdf'), path]);

    const result = await byPercentage(path, 80);

    expect(result.details?.note).toMatch(/without any loss/);
    expect(await pdfText(only(result))).toContain('Line number 199');
  });

  it('returns a file that is already small enough as it was', async () => {
    const options = { compress_pdf: 'by_size', pdf_compress_max_filesize: 50 };

    const result = await runEngine(photos, 'pdf', 'pdf', options, 'compress');

    expect(await readFile(only(result))).toEqual(await readFile(photos));
    expect(result.details?.note).toMatch(/already no larger/);
  });

  it('fails with the possible sizes if none is close enough', async () => {
    const path = at('leap.pdf');
    // One picture of two colours: its sizes leap, and no quality of JPEG or resolution lies between some of them.
    const grid = Buffer.from(
      Array.from({ length: 64 * 64 }, (_, index) => ((index * 2_654_435_761) % 7 > 3 ? 255 : 0)),
    );
    const document = await PDFDocument.create();
    const picture = await sharp(grid, { raw: { width: 64, height: 64, channels: 1 } })
      .png()
      .toBuffer();
    document.addPage([600, 600]).drawImage(await document.embedPng(picture), { x: 0, y: 0, width: 600, height: 600 });
    await writeFile(path, await document.save());

    const outcomes = await Promise.all(
      [95, 80, 65, 50].map((percentage) =>
        byPercentage(path, percentage).then(
          async (result) => {
            const { size } = await stat(only(result));
            const target = Math.floor(((await stat(path)).size * percentage) / 100);
            return (size <= target && size >= target * 0.95) || result.details?.note !== undefined;
          },
          (error: Error) =>
            /the smallest possible size is 0\.\d+ MB|the smallest possible 0\.\d+ MB/.test(error.message),
        ),
      ),
    );

    expect(outcomes).toEqual([true, true, true, true]);
  });

  it('meets a size', async () => {
    const result = await runEngine(
      photos,
      'pdf',
      'pdf',
      { compress_pdf: 'by_size', pdf_compress_max_filesize: 0.1 },
      'compress',
    );

    const { size } = await stat(only(result));
    expect(size).toBeLessThanOrEqual(100_000);
    expect(size).toBeGreaterThan(95_000);
  });

  it('says the smallest size that can be reached', async () => {
    await expect(
      runEngine(photos, 'pdf', 'pdf', { compress_pdf: 'by_size', pdf_compress_max_filesize: 0.001 }, 'compress'),
    ).rejects.toThrow(/the smallest possible size is 0\.\d+ MB/);
  });

  it('returns a file that cannot be made smaller as it was', async () => {
    const { outputs, details } = await runEngine(fivePages, 'pdf', 'pdf', {}, 'compress');

    expect((await stat(outputs[0]?.path ?? '')).size).toBeLessThanOrEqual((await stat(fivePages)).size);
    expect(details?.note).toBeTypeOf('string');
  });
});

describe('crop', () => {
  it('cuts the pages of a range to a box from the top left', async () => {
    const path = only(
      await runEngine(fivePages, 'pdf', 'pdf', { x: 40, y: 80, width: 200, height: 50, page_range: '2' }, 'crop'),
    );

    const { stdout } = await run('pdfinfo', ['-f', '1', '-l', '2', '-box', path]);
    expect(stdout).toMatch(/Page\s+1 CropBox:\s+0\.00\s+0\.00\s+400\.00\s+300\.00/);
    expect(stdout).toMatch(/Page\s+2 CropBox:\s+40\.00\s+170\.00\s+240\.00\s+220\.00/);
  });

  it.each([90, 180, 270])('measures from the page as it is shown when it is rotated by %s', async (angle) => {
    const document = await PDFDocument.create();
    const page = document.addPage([400, 300]);
    page.drawRectangle({ x: 10, y: 20, width: 60, height: 40 });
    const { degrees } = await import('@cantoo/pdf-lib');
    page.setRotation(degrees(angle));
    await writeFile(at('rotated.pdf'), await document.save());
    const shown = await sharp(only(await runEngine(at('rotated.pdf'), 'pdf', 'png', { image_dpi: 72 })))
      .extract({ left: 5, top: 12, width: 120, height: 110 })
      .greyscale()
      .raw()
      .toBuffer();

    const path = only(
      await runEngine(at('rotated.pdf'), 'pdf', 'pdf', { x: 5, y: 12, width: 120, height: 110 }, 'crop'),
    );

    const cropped = await sharp(only(await runEngine(path, 'pdf', 'png', { image_dpi: 72 })))
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(cropped.info).toMatchObject({ width: 120, height: 110 });
    const different = cropped.data.filter((value, index) => Math.abs(value - (shown[index] ?? 0)) > 64).length;
    expect(different).toBeLessThan(150);
  });

  it('says when no box is given', async () => {
    await expect(runEngine(fivePages, 'pdf', 'pdf', {}, 'crop')).rejects.toThrow(/Set width and height/);
  });

  it('goes to the edges of the page without a width and height', async () => {
    const path = only(await runEngine(fivePages, 'pdf', 'pdf', { x: 100.5, y: 50 }, 'crop'));

    expect(await pdfInfo(path)).toMatch(/Page size:\s+299\.5 x 250 pts/);
  });

  it('says when the box lies outside the page', async () => {
    await expect(runEngine(fivePages, 'pdf', 'pdf', { x: 900 }, 'crop')).rejects.toThrow(
      /outside page 1, which is 400 × 300 points/,
    );
  });
});
