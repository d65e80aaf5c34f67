import { execFile } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { degrees, type PDFDocument, PDFName } from '@cantoo/pdf-lib';
import { beforeAll, describe, expect, it } from 'vitest';
import { pdfOf, stream } from '../document/heavy-files.ts';
import { byPdfLib, chapters, expectSound, folderOfFile, infoOf, only, pageTexts, render, runPdf } from './harness.ts';

const run = promisify(execFile);
const place = folderOfFile();
const producers = ['LibreOffice', 'Chromium', 'Ghostscript', 'pdf-lib'] as const;
let made: Awaited<ReturnType<typeof chapters>>;
/** Seven pages with labels i, ii, 1…5, bookmarks of two levels, links, names, fields, an attachment and an angle. */
let rich: string;

beforeAll(async () => {
  made = await chapters(place.path);
  rich = await richPdf(place.at('rich.pdf'));
});

async function richPdf(path: string): Promise<string> {
  const page = (number: number) => number + 2;
  const pages = [1, 2, 3, 4, 5, 6, 7];
  const font = '/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>';
  const link = (to: string) => `<< /Type /Annot /Subtype /Link /Rect [0 0 50 50] ${to} >>`;
  const annotations: Record<number, string> = {
    1: `[${link(`/Dest [${page(2)} 0 R /Fit]`)} ${link('/A << /S /GoTo /D (five) >>')} ${link('/A << /S /URI /URI (https://example.com) >>')} 22 0 R]`,
    5: '[23 0 R]',
  };
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R /Outlines 17 0 R /PageLabels << /Nums [0 << /S /r >> 2 << /S /D /P (p) >>] >> /Names << /Dests << /Names [(five) [${page(5)} 0 R /Fit] (two) [${page(2)} 0 R /Fit]] >> /EmbeddedFiles << /Names [(a.txt) 24 0 R] >> >> /OpenAction [${page(2)} 0 R /Fit] /AcroForm << /Fields [22 0 R 23 0 R] /DA (/F 12 Tf) >> >>`,
    `<< /Type /Pages /Count 7 /Kids [${pages.map((number) => `${page(number)} 0 R`).join(' ')}] /MediaBox [0 0 300 400] /Resources << ${font} >> >>`,
    ...pages.map(
      (number) =>
        `<< /Type /Page /Parent 2 0 R /Contents ${number + 9} 0 R ${number === 3 ? '/Rotate 90' : ''} ${annotations[number] ? `/Annots ${annotations[number]}` : ''} >>`,
    ),
    ...pages.map((number) => stream('', `BT /F 20 Tf 50 300 Td (Chapter ${number}) Tj ET`)),
    '<< /Type /Outlines /First 18 0 R /Last 20 0 R /Count 3 >>',
    `<< /Title (Front) /Parent 17 0 R /Next 19 0 R /Dest [${page(1)} 0 R /Fit] >>`,
    `<< /Title (Middle/..\\x: \r\n"a") /Parent 17 0 R /Prev 18 0 R /Next 20 0 R /First 21 0 R /Last 21 0 R /Count -1 /A << /S /GoTo /D [${page(3)} 0 R /Fit] >> >>`,
    '<< /Title <FEFF03B1> /Parent 17 0 R /Prev 19 0 R /Dest (five) >>',
    `<< /Title (Inner) /Parent 19 0 R /Dest [${page(4)} 0 R /Fit] >>`,
    '<< /Type /Annot /Subtype /Widget /FT /Tx /T (first) /V (kept) /Rect [10 10 90 30] /P 3 0 R >>',
    '<< /Type /Annot /Subtype /Widget /FT /Tx /T (fifth) /Rect [10 10 90 30] /P 7 0 R >>',
    '<< /Type /Filespec /F (a.txt) /EF << /F 25 0 R >> >>',
    stream('/Type /EmbeddedFile', 'attached'),
  ];
  await writeFile(path, pdfOf(objects));
  return path;
}

interface Outline {
  title: string;
  destpageposfrom1: number | null;
  kids: Outline[];
}

/** Returns what qpdf finds: labels, bookmarks with their pages, and names of fields. */
async function structureOf(path: string) {
  const { stdout } = await run('qpdf', [
    '--json=2',
    '--json-key=pages',
    '--json-key=outlines',
    '--json-key=acroform',
    path,
  ]);
  const { pages, outlines, acroform } = JSON.parse(stdout);
  const flat = (items: Outline[]): string[] =>
    items.flatMap(({ title, destpageposfrom1, kids }) => [`${title} ${destpageposfrom1}`, ...flat(kids)]);
  return {
    labels: pages.map(
      ({ label }: { label: Record<string, unknown> | null }) => label && [label['/S'], label['/St'], label['/P']],
    ),
    bookmarks: flat(outlines),
    fields: acroform.fields.map(({ fullname }: { fullname: string }) => fullname).sort(),
  };
}

const chaptersOf = async (path: string) =>
  (await pageTexts(path)).map((text) => /Chapter (\d)/.exec(text)?.[1] ?? '-').join('');
const names = (outputs: { name: string }[]) => outputs.map(({ name }) => name);

async function extracted(options: Record<string, unknown>, path = rich): Promise<string> {
  const result = only(await runPdf('pdf/extract', path, { options }));
  await expectSound(result);
  return chaptersOf(result);
}

describe('pages of documents of several producers', () => {
  it.each(producers)('are extracted in the given order, with what leads to them, of %s', async (producer) => {
    const path = only(await runPdf('pdf/extract', made[producer], { options: { page_range: '3,1-2,-1' } }));

    await expectSound(path);
    expect(await chaptersOf(path)).toBe('3124');
    if (producer === 'Ghostscript')
      expect((await structureOf(path)).bookmarks).toEqual(['Chapter 1 2', 'Chapter 2 3', 'Chapter 3 1', 'Chapter 4 4']);
  });

  it.each(producers)('become files of their own, which hold nothing of the others, of %s', async (producer) => {
    const { outputs } = await runPdf('pdf/split', made[producer]);

    expect(names(outputs)).toEqual([1, 2, 3, 4].map((page) => `${producer}-${page}.pdf`));
    for (const [index, { path }] of outputs.entries()) {
      await expectSound(path);
      expect(await chaptersOf(path)).toBe(String(index + 1));
      const { stdout } = await run('qpdf', ['--qdf', '--object-streams=disable', path, '-'], { maxBuffer: 2 ** 26 });
      expect(stdout).not.toContain(`Chapter ${((index + 1) % 4) + 1}`);
    }
  });

  it.each(producers)('keep what they look like when they are turned, of %s', async (producer) => {
    const [before, after] = [
      await render(made[producer]),
      await render(only(await runPdf('pdf/rotate', made[producer], { options: { page_range: '1' } }))),
    ];

    expect([after.width, after.height]).toEqual([before.height, before.width]);
    const [box, turned] = [before.inked(), after.inked()];
    expect(Math.abs((turned?.top ?? 0) - (box?.left ?? 0))).toBeLessThan(3);
    expect(Math.abs((turned?.right ?? 0) - (before.height - (box?.top ?? 0)))).toBeLessThan(3);
  });

  it.each(producers)('are put into another order, of %s', async (producer) => {
    const path = only(await runPdf('pdf/reorder', made[producer]));

    await expectSound(path);
    expect(await chaptersOf(path)).toBe('4321');
  });

  it('keep the tags of those that stay', async () => {
    const { outputs } = await runPdf('pdf/split', made.Chromium, { options: { pages_per_file: 2 } });

    for (const [index, { path }] of outputs.entries()) {
      const { stdout } = await run('pdfinfo', ['-struct-text', path]);
      const [first, second] = [2 * index + 1, 2 * index + 2];
      expect(stdout).toMatch(new RegExp(`H1[^]*Chapter ${first}[^]*H1[^]*Chapter ${second}`));
      expect(stdout.match(/Chapter/g)).toHaveLength(2);
    }
  });
});

describe('lists of pages', () => {
  it.each([
    ['1-3,7,-1', '12377'],
    ['-2-', '67'],
    ['5-', '567'],
    ['3-1', '321'],
    ['-1--3', '765'],
    ['odd', '1357'],
    ['even,1', '2461'],
    ['2, 2', '22'],
    ['6-99', '67'],
  ])('select pages: %s', async (page_range, expected) => {
    expect(await extracted({ page_range })).toBe(expected);
  });

  it.each(['8', '-8', '0', '8-9', '2,99999'])('fail if a page does not exist: %s', async (page_range) => {
    await expect(extracted({ page_range })).rejects.toThrow(
      /The document has 7 pages, so page .* in page_range does not exist/,
    );
  });

  it.each(['a', '1;2', '--1', '1-2-3', ',', '1e3', '１'])('are refused in other forms: %s', async (page_range) => {
    await expect(extracted({ page_range })).rejects.toThrow(/Expected a string of the form/);
  });

  it('bound what they select', async () => {
    const page_range = Array(300).fill('1-7').join(',');

    await expect(extracted({ page_range: `${page_range}` })).resolves.toHaveLength(2_100);
    await expect(
      runPdf('pdf/reorder', made['pdf-lib'], { options: { order: Array(300).fill('1-99').join(',') } }),
    ).resolves.toMatchObject({ outputs: [{}] });
  });
});

describe('splitting', () => {
  const split = (options: Record<string, unknown>, path = rich) => runPdf('pdf/split', path, { options });
  const contents = async ({ outputs }: Awaited<ReturnType<typeof split>>) =>
    Promise.all(outputs.map(({ path }) => chaptersOf(path)));

  it('starts a file every N pages', async () => {
    const result = await split({ pages_per_file: 3 });

    expect(await contents(result)).toEqual(['123', '456', '7']);
    expect(names(result.outputs)).toEqual(['rich-1.pdf', 'rich-2.pdf', 'rich-3.pdf']);
  });

  it('makes a file of each range', async () => {
    expect(await contents(await split({ mode: 'ranges', ranges: '1-3,7,-1,odd,5-4' }))).toEqual([
      '123',
      '7',
      '7',
      '1357',
      '54',
    ]);
  });

  it('says which option a mode lacks', async () => {
    await expect(split({ mode: 'ranges' })).rejects.toThrow(/Set the option ranges to/);
    await expect(split({ mode: 'size' })).rejects.toThrow(/Set the option max_size to/);
    await expect(split({ ranges: '1' })).rejects.toThrow(/takes effect only together with mode/);
    await expect(split({ mode: 'bookmarks' }, made['pdf-lib'])).rejects.toThrow(/no bookmarks that lead to a page/);
  });

  it('starts a file at each bookmark, named by it', async () => {
    const result = await split({ mode: 'bookmarks' });

    expect(await contents(result)).toEqual(['12', '34', '567']);
    expect(names(result.outputs)).toEqual(['1-Front.pdf', '2-Middle_..x_ _a_.pdf', '3-α.pdf']);
  });

  it.each([
    ['{name}_{first}-{last}', ['rich_1-4.pdf', 'rich_5-7.pdf']],
    ['../../etc/{n}', ['1.pdf', '2.pdf']],
    ['same', ['same.pdf', 'same (2).pdf']],
    ['con', ['_con.pdf', '_con (2).pdf']],
    ['{unknown}{{n}}', ['{unknown}{1}.pdf', '{unknown}{2}.pdf']],
    ['\r\n\u202e.', ['part-1.pdf', 'part-2.pdf']],
    ['{name}.pdf', ['rich.pdf', 'rich (2).pdf']],
  ])('names files by a pattern: %j', async (name_pattern, expected) => {
    expect(names((await split({ pages_per_file: 4, name_pattern })).outputs)).toEqual(expected);
  });

  it('fills files up to a size', async () => {
    const path = await byPdfLib(place.at('photos.pdf'), async (document) => {
      const noise = new Uint8Array(30_000);
      for (const index of noise.keys()) noise[index] = Math.floor(Math.random() * 256);
      for (let page = 1; page <= 9; page++) {
        const [image, made] = [
          document.context.stream(noise.slice(0, page === 5 ? 30_000 : 10_000)),
          document.addPage([100, 100]),
        ];
        made.node.setXObject(PDFName.of('X'), document.context.register(image));
        made.drawText(`Chapter ${page}`, { size: 12 });
      }
    });

    const result = await split({ mode: 'size', max_size: 25_000 }, path);

    expect(await contents(result)).toEqual(['12', '34', '5', '67', '89']);
    const sizes = await Promise.all(result.outputs.map(async (output) => (await stat(output.path)).size));
    expect(sizes.filter((size) => size > 25_000)).toHaveLength(1);
    expect(result.warnings).toEqual([
      expect.stringMatching(/^Page 5 alone takes \d+ bytes, which is more than max_size/),
    ]);
  });

  it('numbers files so that they sort', async () => {
    const path = await byPdfLib(place.at('long.pdf'), (document: PDFDocument) => {
      for (let page = 1; page <= 60; page++) document.addPage([200, 200]).drawText(`Chapter ${page}`, { size: 12 });
    });

    const { outputs } = await split({}, path);

    expect(names(outputs).slice(0, 2)).toEqual(['long-01.pdf', 'long-02.pdf']);
    expect(outputs).toHaveLength(60);
  });

  it('keeps of the document what belongs to each part', async () => {
    const { outputs, warnings } = await split({ mode: 'ranges', ranges: '1-2,3-4,5-7' });

    const [one, two, three] = await Promise.all(outputs.map(({ path }) => structureOf(path)));
    expect(one).toEqual({
      labels: [
        ['/r', 1, undefined],
        ['/r', 2, undefined],
      ],
      bookmarks: ['Front 1'],
      fields: ['first'],
    });
    expect(two).toMatchObject({ bookmarks: [expect.stringMatching(/^Middle.* 1$/s), 'Inner 2'], fields: [] });
    expect(two?.labels[0]).toEqual(['/D', 1, 'u:p']);
    expect(three).toMatchObject({ bookmarks: ['α 1'], fields: ['fifth'] });
    expect(three?.labels[0]).toEqual(['/D', 3, 'u:p']);
    expect(warnings).toEqual([
      'Links to pages that are left out were removed.',
      expect.stringMatching(/attached files are in none of the parts/),
    ]);
    for (const { path } of outputs) {
      await expectSound(path);
      expect(await infoOf(path, 'Pages')).toMatch(/2|3/);
    }
  });
});

describe('the rest of a document', () => {
  it('stays with extracted pages as far as it belongs to them', async () => {
    const { outputs, warnings } = await runPdf('pdf/extract', rich, { options: { page_range: '5,1' } });

    const path = outputs[0]?.path ?? '';
    expect(await structureOf(path)).toEqual({
      labels: [
        ['/D', 3, 'u:p'],
        ['/r', 1, undefined],
      ],
      bookmarks: ['Front 2', 'α 1'],
      fields: ['fifth', 'first'],
    });
    expect(warnings).toEqual(['Links to pages that are left out were removed.']);
    const { stdout } = await run('qpdf', ['--qdf', '--object-streams=disable', path, '-']);
    expect(stdout).toContain('example.com');
    expect(stdout).toContain('(five)');
    expect(stdout).not.toContain('(two)');
    expect(stdout).not.toContain('OpenAction');
    expect(names(outputs)).toEqual(['rich-pages.pdf']);
  });

  it('keeps attachments of extracted pages', async () => {
    const path = only(await runPdf('pdf/extract', rich, { options: { page_range: '7' } }));

    expect((await run('pdfdetach', ['-list', path])).stdout).toContain('a.txt');
  });

  it('stays when pages are turned or put into another order', async () => {
    for (const [operation, options, first] of [
      ['pdf/rotate', {}, 'Front 1'],
      ['pdf/reorder', {}, 'Front 7'],
    ] as const) {
      const { outputs, warnings } = await runPdf(operation, rich, { options });
      const found = await structureOf(outputs[0]?.path ?? '');
      expect(found.bookmarks[0]).toBe(first);
      expect(found.bookmarks).toHaveLength(4);
      expect(found.fields).toEqual(['fifth', 'first']);
      expect(warnings ?? []).toEqual([]);
    }
  });
});

describe('turning', () => {
  const angles = async (options: Record<string, unknown>) => {
    const { stdout } = await run('pdfinfo', ['-l', '7', only(await runPdf('pdf/rotate', rich, { options }))]);
    return [...stdout.matchAll(/rot:\s+(\d+)/g)].map(([, angle]) => Number(angle));
  };

  it('adds to the angle that pages have', async () => {
    expect(await angles({})).toEqual([90, 90, 180, 90, 90, 90, 90]);
    expect(await angles({ angle: 270 })).toEqual([270, 270, 0, 270, 270, 270, 270]);
    expect(await angles({ angle: 180, page_range: 'odd' })).toEqual([180, 0, 270, 0, 180, 0, 180]);
  });

  it('turns a page once that is listed twice', async () => {
    expect(await angles({ page_range: '1,1,-7' })).toEqual([90, 0, 90, 0, 0, 0, 0]);
  });

  it('also applies to a page with an angle below zero', async () => {
    const path = await byPdfLib(place.at('negative.pdf'), (document) => {
      document.addPage([100, 200]).setRotation(degrees(-90));
    });

    expect(await infoOf(only(await runPdf('pdf/rotate', path, { options: { angle: 180 } })), 'Page rot')).toBe('90');
  });
});

describe('another order', () => {
  const reordered = async (options: Record<string, unknown>) =>
    chaptersOf(only(await runPdf('pdf/reorder', rich, { options })));

  it('is that of the list, with the other pages behind or left out', async () => {
    expect(await reordered({ order: '3,1' })).toBe('3124567');
    expect(await reordered({ order: '5-7,1', rest: 'drop' })).toBe('5671');
    expect(await reordered({ order: 'reverse' })).toBe('7654321');
    expect(await reordered({ order: 'even,odd' })).toBe('2461357');
  });

  it('may repeat a page', async () => {
    expect(await reordered({ order: '1,1,7', rest: 'drop' })).toBe('117');
  });
});

it('several inputs keep their names', async () => {
  const { outputs } = await runPdf('pdf/extract', [rich, made['pdf-lib']], { options: { page_range: '1' } });

  expect(names(outputs)).toEqual([basename(rich, '.pdf'), 'pdf-lib'].map((name) => `${name}-pages.pdf`));
});
