import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PDFDict, type PDFDocument, PDFName, type PDFRef, PDFStream, PDFString, StandardFonts } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { TrueType } from '../../../functions/engines/pdf/archive/truetype.ts';
import { byPdfLib, chapters, expectSound, folderOfFile, infoOf, only, pageTexts, render, runPdf } from './harness.ts';

const run = promisify(execFile);
const place = folderOfFile();
let made: Awaited<ReturnType<typeof chapters>>;
let photos: string;

beforeAll(async () => {
  made = await chapters(place.path, 2);
  photos = await withPhotos(join(place.path, 'photos.pdf'));
});

/** Two pages with the same photo, embedded twice, and a form field. */
async function withPhotos(path: string): Promise<string> {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 30 };
  const photo = await sharp({ create: { width: 1200, height: 900, channels: 3, background: '#808080', noise } })
    .blur(2)
    .jpeg({ quality: 95 })
    .toBuffer();
  return byPdfLib(path, async (document) => {
    const font = await document.embedFont(StandardFonts.Helvetica);
    for (const number of [1, 2]) {
      const page = document.addPage([595, 842]);
      page.drawText(`Photo ${number}`, { x: 72, y: 780, size: 20, font });
      page.drawImage(await document.embedJpg(photo), { x: 72, y: 400, width: 400, height: 300 });
    }
    document
      .getForm()
      .createTextField('name')
      .addToPage(document.getPage(0), { x: 72, y: 300, width: 200, height: 24 });
  });
}

const sizeOf = async (path: string) => (await stat(path)).size;

describe('documents of several producers', () => {
  it.each(['LibreOffice', 'Chromium', 'Ghostscript', 'pdf-lib'] as const)(
    'are never larger, and keep text, look and tags, of %s',
    async (producer) => {
      const path = only(await runPdf('pdf/optimize', made[producer]));

      await expectSound(path);
      expect(await sizeOf(path)).toBeLessThanOrEqual(await sizeOf(made[producer]));
      expect(await pageTexts(path)).toEqual(await pageTexts(made[producer]));
      expect(await infoOf(path, 'Tagged')).toBe(await infoOf(made[producer], 'Tagged'));
      const [before, after] = [await render(made[producer]), await render(path)];
      expect(after.dark()).toBe(before.dark());
    },
  );
});

describe('pictures', () => {
  it('are scaled down, compressed and embedded once', async () => {
    const { outputs } = await runPdf('pdf/optimize', photos, { options: { image_dpi: 100 } });
    const path = outputs[0]?.path ?? '';

    await expectSound(path);
    expect(await sizeOf(path)).toBeLessThan((await sizeOf(photos)) / 3);
    expect(await infoOf(path, 'Optimized')).toBe('yes');
    expect(await infoOf(path, 'Form')).toBe('AcroForm');
    const [red] = (await render(path, 2)).at(200, 300);
    expect(Math.abs(red - 128)).toBeLessThan(40);
  });

  it('meet a size', async () => {
    const path = only(
      await runPdf('pdf/optimize', photos, { options: { compress_pdf: 'by_size', pdf_compress_max_filesize: 0.1 } }),
    );
    expect(await sizeOf(path)).toBeLessThanOrEqual(100_000);
    const options = { compress_pdf: 'by_size', pdf_compress_max_filesize: 0.001 };
    await expect(runPdf('pdf/optimize', photos, { options })).rejects.toThrow(/smallest possible size/);
  });
});

describe('fonts', () => {
  const dejavu = '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf';
  const liberation = '/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf';
  const words = 'Café naïve ÅÖ fox';

  /** Returns the codes of a text in a composite font. */
  function glyphsOf(program: Buffer, text: string): string[] {
    const map = new TrueType(program).cmaps.find(({ platform, encoding }) => platform === 3 && encoding === 1);
    return [...text].map((each) => (map?.lookup(each.codePointAt(0) ?? 0) ?? 0).toString(16).padStart(4, '0'));
  }

  /** Returns the map of the codes of all words to Unicode. */
  function toUnicode(program: Buffer): string {
    const characters = [...new Set(words)];
    const codes = glyphsOf(program, characters.join(''));
    const lines = characters.map(
      (each, index) => `<${codes[index]}> <${each.charCodeAt(0).toString(16).padStart(4, '0')}>`,
    );
    const head = '/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def /CMapType 2 def';
    return `${head} 1 begincodespacerange <0000> <ffff> endcodespacerange ${lines.length} beginbfchar ${lines.join('\n')} endbfchar endcmap end end`;
  }

  /** Embeds a whole font: as a composite font, or with WinAnsi codes. */
  function embed(
    { context }: PDFDocument,
    program: Buffer,
    kind: 'Type0' | 'TrueType',
    name: string,
    intact = program,
  ): PDFRef {
    const widths = kind === 'TrueType' ? { FirstChar: 0, LastChar: 255, Widths: Array(256).fill(556) } : {};
    const descriptor = context.register(
      context.obj({
        Type: 'FontDescriptor',
        FontName: name,
        Flags: 32,
        FontBBox: [-200, -300, 1200, 1000],
        ItalicAngle: 0,
        Ascent: 900,
        Descent: -250,
        CapHeight: 700,
        StemV: 80,
        FontFile2: context.register(context.flateStream(program, { Length1: program.length })),
      }),
    );
    const own = { Type: 'Font', BaseFont: name, FontDescriptor: descriptor };
    if (kind === 'TrueType')
      return context.register(context.obj({ ...own, ...widths, Subtype: kind, Encoding: 'WinAnsiEncoding' }));
    const system = { Registry: PDFString.of('Adobe'), Ordering: PDFString.of('Identity'), Supplement: 0 };
    const descendant = { ...own, Subtype: 'CIDFontType2', CIDSystemInfo: system, CIDToGIDMap: 'Identity', DW: 600 };
    return context.register(
      context.obj({
        Type: 'Font',
        Subtype: kind,
        BaseFont: name,
        Encoding: 'Identity-H',
        ToUnicode: context.register(context.flateStream(toUnicode(intact))),
        DescendantFonts: [context.register(context.obj(descendant))],
      }),
    );
  }

  function addText(document: PDFDocument, fonts: Record<string, PDFRef>, content: string) {
    const { context } = document;
    const page = document.addPage([400, 200]);
    page.node.set(PDFName.of('Resources'), context.obj({ Font: fonts }));
    page.node.set(PDFName.of('Contents'), context.register(context.flateStream(content)));
    return page;
  }

  const bigPath = () => place.at('whole.pdf');

  beforeAll(async () => {
    const [big, plain] = [await readFile(dejavu), await readFile(liberation)];
    await byPdfLib(bigPath(), (document) => {
      const F1 = embed(document, big, 'Type0', 'DejaVuSans');
      const F2 = embed(document, plain, 'TrueType', 'LiberationSans');
      const simple = Buffer.from(words, 'latin1').toString('hex');
      addText(
        document,
        { F1, F2 },
        `BT /F1 24 Tf 20 120 Td <${glyphsOf(big, words).join('')}> Tj /F2 24 Tf 0 -60 Td <${simple}> Tj ET`,
      );
    });
  });

  async function fontsIn(path: string) {
    const { stdout } = await run('pdffonts', [path]);
    return stdout
      .trim()
      .split('\n')
      .slice(2)
      .map((line) => {
        const [name = '', ...rest] = line.split(/\s+/);
        const isSubset = /\s(yes|no) (yes|no) (yes|no)\s+\d+\s+\d+$/.exec(line);
        return { name, rest: rest.length, isEmbedded: isSubset?.[1] === 'yes', isSubset: isSubset?.[2] === 'yes' };
      });
  }

  async function expectSame(path: string, original: string) {
    await expectSound(path);
    expect(await pageTexts(path)).toEqual(await pageTexts(original));
    const picture = async (file: string) =>
      (await run('pdftoppm', ['-r', '144', '-png', file], { encoding: 'buffer', maxBuffer: 2 ** 28 })).stdout;
    expect((await picture(path)).equals(await picture(original))).toBe(true);
    const draw = async (file: string) => {
      const png = place.at('mupdf.png');
      await run('mutool', ['draw', '-q', '-r', '144', '-o', png, file, '1']);
      return readFile(png);
    };
    expect((await draw(path)).equals(await draw(original))).toBe(true);
  }

  it('lose the glyphs that no text uses', async () => {
    const path = only(await runPdf('pdf/optimize', bigPath()));

    expect(await sizeOf(path)).toBeLessThan((await sizeOf(bigPath())) / 4);
    await expectSame(path, bigPath());
    for (const font of await fontsIn(path)) {
      expect(font).toMatchObject({ isEmbedded: true, isSubset: true });
      expect(font.name).toMatch(/^[A-Z]{6}\+(DejaVuSans|LiberationSans)$/);
    }
  });

  it.each([
    ['TrueType', 0],
    ['Type 1', 1],
  ])('of Ghostscript are reduced, as %s', async (_, kind) => {
    const whole = place.at(`whole-gs-${kind}.pdf`);
    const code =
      '<< /NeverEmbed [] >> setdistillerparams /Times-Roman findfont 24 scalefont setfont 20 100 moveto (Fox and fee, 12.50) show /Helvetica 30 selectfont 20 40 moveto (Quartz) show showpage';
    const args = ['-q', '-sDEVICE=pdfwrite', '-dSubsetFonts=false', '-dEmbedAllFonts=true', '-o', whole];
    await run('gs', [...args, ...(kind === 0 ? [bigPath()] : ['-c', code])]);
    const path = only(await runPdf('pdf/optimize', whole));

    await expectSame(path, whole);
    expect(await sizeOf(path)).toBeLessThan((await sizeOf(whole)) / 2);
    for (const font of await fontsIn(path)) expect(font).toMatchObject({ isEmbedded: true, isSubset: true });
  });

  it('keep what forms, patterns, appearances and drawn glyphs show, under all names', async () => {
    const big = await readFile(dejavu);
    const text = (from: number, to: number) => `<${glyphsOf(big, words.slice(from, to)).join('')}> Tj`;
    const original = await byPdfLib(place.at('everywhere.pdf'), (document) => {
      const { context } = document;
      const F1 = embed(document, big, 'Type0', 'DejaVuSans');
      const F2 = context.register(
        context.obj(
          Object.fromEntries(
            context
              .lookup(F1, PDFDict)
              .entries()
              .map(([key, value]) => [key.decodeText(), value]),
          ),
        ),
      );
      const cell = { PatternType: 1, PaintType: 1, TilingType: 1, BBox: [0, 0, 80, 40], XStep: 80, YStep: 40 };
      const box = [0, 0, 100, 40];
      const add = (content: string, dict: object) => context.register(context.flateStream(content, { ...dict }));
      const Resources = { Font: { F2 } };
      const inherits = add(`BT ${text(4, 7)} ET`, { Type: 'XObject', Subtype: 'Form', BBox: box, Resources: {} });
      const P1 = add(`BT /F2 20 Tf ${text(7, 9)} ET`, { Type: 'Pattern', ...cell, Resources });
      const stamp = add(`BT /F2 20 Tf ${text(13, 15)} ET`, { Type: 'XObject', Subtype: 'Form', BBox: box, Resources });
      const glyph = add(`1000 0 d0 BT /F2 1000 Tf ${text(15, 17)} ET`, {});
      const F3 = context.register(
        context.obj({
          Type: 'Font',
          Subtype: 'Type3',
          FontBBox: [0, 0, 2000, 1000],
          FontMatrix: [0.001, 0, 0, 0.001, 0, 0],
          CharProcs: { a: glyph },
          Encoding: { Type: 'Encoding', Differences: [97, 'a'] },
          FirstChar: 97,
          LastChar: 97,
          Widths: [1000],
          Resources,
        }),
      );
      const page = addText(
        document,
        { F1, F3 },
        `/F1 20 Tf BT 20 150 Td ${text(0, 4)} ET q 1 0 0 1 20 100 cm /X1 Do Q /Pattern cs /P1 scn 20 50 100 40 re f BT 0 g /F3 20 Tf 200 150 Td (a) Tj ET`,
      );
      const given = page.node.get(PDFName.of('Resources'));
      if (!(given instanceof PDFDict)) throw new Error('The page has no resources.');
      given.set(PDFName.of('XObject'), context.obj({ X1: inherits }));
      given.set(PDFName.of('Pattern'), context.obj({ P1 }));
      const annotation = { Type: 'Annot', Subtype: 'Stamp', Rect: [200, 50, 300, 90], F: 4, AP: { N: stamp } };
      page.node.set(PDFName.of('Annots'), context.obj([context.register(context.obj(annotation))]));
    });
    const path = only(await runPdf('pdf/optimize', original));

    await expectSame(path, original);
    expect(await sizeOf(path)).toBeLessThan((await sizeOf(original)) / 4);
    const names = (await fontsIn(path)).filter(({ isEmbedded }) => isEmbedded).map(({ name }) => name);
    expect(new Set(names).size).toBe(1);
  });

  it('stay whole if the pages would look different', async () => {
    const big = await readFile(dejavu);
    const text = (from: number, to: number) => `<${glyphsOf(big, words.slice(from, to)).join('')}> Tj`;
    // The data of the inline picture seems to end early, so that the text after it looks like a string.
    const picture = 'BI /W 10 /H 1 /BPC 8 /CS /G ID 01 EI f (0 EI';
    const content = `BT /F1 24 Tf 20 120 Td ${text(0, 4)} ET ${picture} BT /F1 24 Tf 20 60 Td ${text(11, 17)} ET %) f\n0 g`;
    const original = await byPdfLib(place.at('hidden.pdf'), (document) => {
      addText(document, { F1: embed(document, big, 'Type0', 'DejaVuSans') }, content);
    });
    expect(await pageTexts(original)).toEqual([expect.stringContaining('fox')]);
    const path = only(await runPdf('pdf/optimize', original));

    expect((await render(path)).dark()).toBe((await render(original)).dark());
    expect(await fontsIn(path)).toMatchObject([{ name: 'DejaVuSans', isSubset: false }]);
  });

  /** Returns where the record of a table starts. */
  const recordOf = (program: Buffer, tag: string) => program.indexOf(tag, 12, 'latin1');
  const tableOf = (program: Buffer, tag: string) => program.readUInt32BE(recordOf(program, tag) + 8);

  it.each<
    [string, (program: Buffer, document: PDFDocument) => { content?: string; form?: boolean; isAttached?: boolean }]
  >([
    ['fields of a form use them', () => ({ form: true })],
    ['they are attached as files too', () => ({ isAttached: true })],
    ['content names a font that is missing', () => ({ content: 'BT /F9 24 Tf 20 20 Td <0024> Tj ET' })],
    ['text shows a code that is not in them', () => ({ content: 'BT /F1 24 Tf 20 20 Td <fff0> Tj ET' })],
    [
      'an outline is outside of the program',
      (program) => {
        program.writeUInt32BE(0x7ffffff0, tableOf(program, 'loca') + 4 * 500);
        return {};
      },
    ],
    [
      'a glyph consists of itself',
      (program) => {
        const [code = ''] = glyphsOf(program, 'é');
        const glyph = Number.parseInt(code, 16);
        const at = tableOf(program, 'glyf') + program.readUInt32BE(tableOf(program, 'loca') + 4 * glyph);
        expect(program.readInt16BE(at)).toBe(-1);
        program.writeUInt16BE(glyph, at + 12);
        return {};
      },
    ],
    [
      'a table is outside of the file',
      (program) => {
        program.writeUInt32BE(0xfffffff0, recordOf(program, 'hmtx') + 8);
        return {};
      },
    ],
  ])('stay whole if %s', async (name, change) => {
    const program = await readFile(dejavu);
    const intact = Buffer.from(program);
    const original = await byPdfLib(place.at(`whole ${name}.pdf`), (document) => {
      const { content, form = false, isAttached = false } = change(program, document);
      const F1 = embed(document, program, 'Type0', 'DejaVuSans', intact);
      const page = addText(document, { F1 }, `BT /F1 24 Tf 20 60 Td <${glyphsOf(intact, words).join('')}> Tj ET`);
      if (content) addText(document, { F1 }, content);
      if (isAttached) {
        const { context } = document;
        const file = context
          .enumerateIndirectObjects()
          .find(([, each]) => each instanceof PDFStream && each.dict.has(PDFName.of('Length1')));
        if (!file) throw new Error('The font is not embedded.');
        const spec = {
          Type: 'Filespec',
          F: PDFString.of('font.ttf'),
          UF: PDFString.of('font.ttf'),
          EF: { F: file[0] },
        };
        const names = { Names: [PDFString.of('font.ttf'), context.register(context.obj(spec))] };
        document.catalog.set(PDFName.of('Names'), context.obj({ EmbeddedFiles: names }));
      }
      if (!form) return;
      const { context } = document;
      const field = { Type: 'Annot', Subtype: 'Widget', FT: 'Tx', Rect: [20, 100, 200, 140], P: page.ref };
      const text = { T: PDFString.of('name'), DA: PDFString.of('/F1 12 Tf') };
      const widget = context.register(context.obj({ ...field, ...text }));
      page.node.set(PDFName.of('Annots'), context.obj([widget]));
      document.catalog.set(PDFName.of('AcroForm'), context.obj({ Fields: [widget], DR: { Font: { F1 } } }));
    });
    const path = only(await runPdf('pdf/optimize', original));

    await expectSound(path);
    expect(await fontsIn(path)).toMatchObject([{ name: 'DejaVuSans', isSubset: false }]);
    expect(await sizeOf(path)).toBeGreaterThan((await sizeOf(original)) / 2);
  });
});
