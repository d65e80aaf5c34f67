import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { degrees } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  byPdfLib,
  chapters,
  expectSound,
  folderOfFile,
  only,
  type PdfRun,
  pageTexts,
  render,
  runPdf,
} from './harness.ts';

const run = promisify(execFile);
const place = folderOfFile();
const producers = ['LibreOffice', 'Chromium', 'Ghostscript', 'pdf-lib'] as const;
let made: Awaited<ReturnType<typeof chapters>>;
/** Three pages without content, each 200 by 300 points as displayed: upright, turned, and cropped out of a larger one. */
let blank: string;
let logo: string;

beforeAll(async () => {
  made = await chapters(place.path);
  blank = await byPdfLib(place.at('blank.pdf'), (document) => {
    document.addPage([200, 300]);
    document.addPage([300, 200]).setRotation(degrees(90));
    const cropped = document.addPage([600, 700]);
    cropped.setCropBox(100, 150, 200, 300);
  });
  logo = place.at('logo.png');
  await sharp({ create: { width: 80, height: 40, channels: 3, background: '#00a000' } })
    .png()
    .toFile(logo);
});

type Options = Record<string, unknown>;
const watermark = async (options: Options, path = blank, others: PdfRun['others'] = {}) =>
  only(await runPdf('pdf/watermark', path, { options, others }));
const stamp = async (options: Options, path = blank, others: PdfRun['others'] = {}) =>
  only(await runPdf('pdf/stamp', path, { options, others }));

describe('marks on documents of several producers', () => {
  it.each(producers)('are text that can be found, over the content, in %s', async (producer) => {
    const path = await watermark({ text: 'Confidential' }, made[producer]);

    await expectSound(path);
    const texts = await pageTexts(path);
    expect(texts).toHaveLength(4);
    for (const [index, text] of texts.entries()) expect(text).toMatch(new RegExp(`Chapter\\s+${index + 1}`));
    // A text at an angle has a line for each letter.
    const { stdout } = await run('pdftotext', ['-raw', path, '-']);
    expect(stdout.replace(/\s/g, '').match(/Confidential/g)).toHaveLength(4);
    const [before, after] = [await render(made[producer]), await render(path)];
    expect(after.dark(230)).toBeGreaterThan(before.dark(230) + 5_000);
    expect(after.dark(60)).toBeLessThan(before.dark(60) * 1.3);
  });

  it.each(producers)('number the pages at their foot, in %s', async (producer) => {
    const path = await stamp({}, made[producer]);

    await expectSound(path);
    const texts = await pageTexts(path);
    expect(texts.map((text) => text.split('\n').at(-1)?.replace(/ /g, ''))).toEqual(['1/4', '2/4', '3/4', '4/4']);
  });
});

describe('places', () => {
  const rows = { top: 0, middle: 1, bottom: 2 };
  const columns = { left: 0, center: 1, right: 2 };
  it.each([
    ['top-left', 'top', 'left'],
    ['top', 'top', 'center'],
    ['top-right', 'top', 'right'],
    ['left', 'middle', 'left'],
    ['center', 'middle', 'center'],
    ['right', 'middle', 'right'],
    ['bottom-left', 'bottom', 'left'],
    ['bottom', 'bottom', 'center'],
    ['bottom-right', 'bottom', 'right'],
  ] as const)(
    'are those of the page as displayed, also if it is turned or cropped: %s',
    async (position, row, column) => {
      const path = await stamp({ position, size: 40, margin: 10 }, blank, { picture: [logo] });

      for (const page of [1, 2, 3]) {
        const picture = await render(path, page);
        expect([picture.width, picture.height]).toEqual([200, 300]);
        const { left = -1, top = -1, right = -1, bottom = -1 } = picture.inked() ?? {};
        const [x, y] = [[10, 80, 150][columns[column]] ?? 0, [10, 140, 270][rows[row]] ?? 0];
        for (const [found, expected] of [
          [left, x],
          [top, y],
          [right, x + 39],
          [bottom, y + 19],
        ] as const)
          expect(Math.abs(found - expected)).toBeLessThanOrEqual(1);
        expect(picture.at(x + 20, y + 10)).toEqual([0, 160, 0]);
      }
    },
  );

  it('hold the bounds of a turned mark', async () => {
    const path = await stamp({ position: 'top-left', size: 40, margin: 10, rotation: 90 }, blank, { picture: [logo] });

    const { left, top, right = 0, bottom = 0 } = (await render(path)).inked() ?? {};
    expect([left, top, Math.round(right / 2), Math.round(bottom / 2)]).toEqual([10, 10, 15, 25]);
  });

  it('turn clockwise', async () => {
    const picture = await render(await watermark({ text: '.......', rotation: -45, opacity: 100 }));

    const { left = 0, top = 0, right = 0, bottom = 0 } = picture.inked() ?? {};
    const isInked = (x: number, y: number) => {
      for (let dx = -12; dx <= 12; dx++)
        for (let dy = -12; dy <= 12; dy++) if (picture.at(x + dx, y + dy)[0] < 200) return true;
      return false;
    };
    expect([isInked(left + 6, bottom - 6), isInked(right - 6, top + 6)]).toEqual([true, true]);
    expect([isInked(left + 6, top + 6), isInked(right - 6, bottom - 6)]).toEqual([false, false]);
  });

  it('shrink a stamp that is larger than the page', async () => {
    const { left = 0, right = 0 } =
      (await render(await stamp({ text: 'A long text '.repeat(20), size: 20 }))).inked() ?? {};

    expect(left).toBeGreaterThanOrEqual(23);
    expect(right).toBeLessThanOrEqual(177);
  });
});

describe('how a mark covers the page', () => {
  const red = async () =>
    byPdfLib(place.at('red.pdf'), (document) => {
      const page = document.addPage([200, 300]);
      page.drawRectangle({
        x: 0,
        y: 0,
        width: 200,
        height: 150,
        color: { type: 'RGB', red: 1, green: 0, blue: 0 } as never,
      });
    });

  it('is opaque, translucent, or under the content', async () => {
    const path = await red();
    const at = async (options: Options) => {
      const picture = await render(
        await watermark({ size: 100, position: 'center', ...options }, path, { picture: [logo] }),
      );
      return [picture.at(100, 140), picture.at(100, 160)];
    };

    expect(await at({ opacity: 100 })).toEqual([
      [0, 160, 0],
      [0, 160, 0],
    ]);
    const [onWhite, onRed] = await at({ opacity: 50 });
    for (const [found, expected] of [
      [onWhite, [127, 207, 127]],
      [onRed, [127, 80, 0]],
    ])
      for (const [index, value] of (found ?? []).entries())
        expect(Math.abs(value - (expected?.[index] ?? 0))).toBeLessThan(3);
    expect(await at({ opacity: 100, layer: 'behind' })).toEqual([
      [0, 160, 0],
      [255, 0, 0],
    ]);
  });

  it('repeats all over the page, no darker where marks overlap', async () => {
    const picture = await render(
      await watermark({ size: 30, tile: true, gap: 10, opacity: 50 }, blank, { picture: [logo] }),
    );

    const quarters = [0, 0, 0, 0];
    let darkest = 255;
    for (let y = 0; y < 300; y++)
      for (let x = 0; x < 200; x++) {
        const [value] = picture.at(x, y);
        darkest = Math.min(darkest, value);
        if (value < 200)
          quarters[(y < 150 ? 0 : 2) + (x < 100 ? 0 : 1)] = (quarters[(y < 150 ? 0 : 2) + (x < 100 ? 0 : 1)] ?? 0) + 1;
      }
    for (const inked of quarters) expect(inked / 15_000).toBeGreaterThan(0.35);
    expect(darkest).toBeGreaterThan(120);
  });

  it('draws at most a thousand tiles', async () => {
    const path = await watermark({ text: '.', size: 1, tile: true, gap: 0 });

    const { stdout } = await run('pdftotext', ['-l', '1', path, '-']);
    expect(stdout.match(/\./g)?.length).toBeLessThanOrEqual(1_100);
  });

  it('leaves pages alone that are not listed', async () => {
    const path = await stamp({ text: 'X', page_range: 'even' }, made.Ghostscript);

    expect((await pageTexts(path)).map((text) => /X$/.test(text))).toEqual([false, true, false, true]);
  });
});

describe('texts', () => {
  it.each([
    ['Arabic', 'سري للغاية'],
    ['Hebrew', 'סודי ביותר'],
    ['Chinese', '机密文件'],
    ['Japanese', '社外秘です'],
    ['Korean', '대외비'],
    ['Russian', 'Секретно'],
    ['markup', '<b>&amp;</b> "x" \'y\''],
    ['several lines', 'first line\nsecond line'],
  ])('are drawn in any script: %s', async (_, text) => {
    const result = await runPdf('pdf/stamp', blank, { options: { text, position: 'center', size: 16 } });

    expect(result.warnings ?? []).toEqual([]);
    const path = only(result);
    await expectSound(path);
    const found = (await pageTexts(path))[0]?.normalize('NFKC') ?? '';
    const bare = (given: string) => given.replace(/[\s\p{Cf}]/gu, '');
    expect(bare(found)).toBe(bare(text));
    expect((await render(path)).dark(128)).toBeGreaterThan(50);
  });

  it('are drawn with emoji', async () => {
    const picture = await render(await stamp({ text: '🍏', position: 'center', size: 60 }));

    expect(picture.inked()).toBeDefined();
    expect(picture.dark(230)).toBeGreaterThan(300);
  });

  it('say which characters no font has', async () => {
    const { warnings } = await runPdf('pdf/stamp', blank, { options: { text: 'a\u{10fffd}\u{10ffff}' } });

    expect(warnings?.[0]).toMatch(/^No installed font has these characters: /);
  });

  it('hold page numbers, the date and the name of the file', async () => {
    const text = '{page}/{pages} {date} {name} {other}';
    const path = await stamp({ text, first_number: 5, page_range: '2-', size: 8 }, made['pdf-lib']);

    const today = new Date().toISOString().slice(0, 10);
    expect((await pageTexts(path)).map((found) => found.split('\n').at(-1)?.trim())).toEqual([
      'Words of page 1.',
      `5/4 ${today} pdf-lib {other}`,
      `6/4 ${today} pdf-lib {other}`,
      `7/4 ${today} pdf-lib {other}`,
    ]);
  });

  it('hold Bates numbers that run on over the inputs', async () => {
    const options = {
      text: '{bates}',
      bates_prefix: 'ABC-',
      bates_start: 99,
      bates_digits: 4,
      bates_suffix: '-X',
      size: 8,
    };
    const { outputs } = await runPdf('pdf/stamp', [blank, blank], { options });

    const texts = await Promise.all(outputs.map(({ path }) => pageTexts(path)));
    expect(texts.flat()).toEqual(
      [99, 100, 101, 102, 103, 104].map((number) => `ABC-${String(number).padStart(4, '0')}-X`),
    );
  });

  it('hold a hostile file name as it is', async () => {
    const path = place.at('<x>&$(id) {page}.pdf');
    await writeFile(path, '');
    await run('cp', [blank, path]);

    expect((await pageTexts(await stamp({ text: '{name}', size: 8 }, path)))[0]).toBe('<x>&$(id) {page}');
  });
});

describe('pictures', () => {
  const drawn = async (name: string, bytes: Buffer | string) => {
    await writeFile(place.at(name), bytes);
    return render(await stamp({ position: 'center', size: 80 }, blank, { picture: [place.at(name)] }));
  };
  const image = sharp({
    create: { width: 80, height: 40, channels: 4, background: { r: 0, g: 160, b: 0, alpha: 0.5 } },
  });

  it.each(['png', 'webp'] as const)('keep their transparency: %s', async (format) => {
    const [red, green, blue] = (
      await drawn(`a.${format}`, await image.clone().toFormat(format, { lossless: true }).toBuffer())
    ).at(100, 150);

    for (const [found, expected] of [
      [red, 127],
      [green, 207],
      [blue, 127],
    ] as const)
      expect(Math.abs(found - expected)).toBeLessThan(4);
  });

  it('stand upright if the photo says so', async () => {
    const photo = await image.clone().flatten().jpeg().withMetadata({ orientation: 6 }).toBuffer();

    const { left = 0, right = 0, top = 0, bottom = 0 } = (await drawn('a.jpg', photo)).inked() ?? {};
    expect((bottom - top) / (right - left)).toBeCloseTo(2, 0);
  });

  it('may be drawings', async () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><circle cx="20" cy="20" r="20" fill="#0000ff"/></svg>';

    const picture = await drawn('a.svg', svg);
    expect(picture.at(100, 150)).toEqual([0, 0, 255]);
    expect(picture.at(62, 112)).toEqual([255, 255, 255]);
  });

  it.each([
    ['a damaged picture', 'bad.png', Buffer.from('\x89PNG\r\n\x1a\nxx', 'latin1')],
    [
      'a bomb of entities',
      'bomb.svg',
      '<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><svg xmlns="http://www.w3.org/2000/svg"><text>&b;</text>',
    ],
    ['a drawing without end', 'cut.svg', '<svg xmlns="http://www.w3.org/2000/svg"><g>'],
  ])('are refused if they cannot be read: %s', async (_, name, bytes) => {
    await expect(drawn(name, bytes)).rejects.toThrow(/The picture could not be read/);
  });

  it('show nothing of other files', async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="40" height="40"><image width="40" height="40" xlink:href="file://${logo}"/><image width="40" height="40" xlink:href="../../in/0"/><rect width="9" height="9"/></svg>`;

    expect((await drawn('reach.svg', svg)).at(110, 160)).toEqual([255, 255, 255]);
  });
});

it.each([
  ['a watermark without text or picture', 'pdf/watermark', {}, false, /Set the option text, or give a picture/],
  ['text and a picture', 'pdf/stamp', { text: 'x' }, true, /either text or picture, not both/],
  ['a text of spaces', 'pdf/stamp', { text: ' \n ' }, false, /Expected a string of the form/],
  ['a color by name', 'pdf/stamp', { text: 'x', color: 'red' }, false, /Expected a string of the form/],
] as const)('fails with what to do for %s', async (_, operation, options, withPicture, message) => {
  await expect(runPdf(operation, blank, { options, others: withPicture ? { picture: [logo] } : {} })).rejects.toThrow(
    message,
  );
});
