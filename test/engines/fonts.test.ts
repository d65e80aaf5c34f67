import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopOffice } from '../../functions/engines/document/office/office.ts';
import { engine as documents } from '../../functions/engines/document/run.ts';
import { engine as messages } from '../../functions/engines/mail/run.ts';
import type { Engine, WorkResult } from '../../functions/engines/runtime/engine.ts';
import { withFonts } from '../../functions/engines/runtime/job-fonts.ts';
import { closeBrowser } from '../../functions/engines/webpage/browser.ts';
import { engine as pages } from '../../functions/engines/webpage/run.ts';
import { renamedFont } from '../support/renamed-font.ts';
import { quietContext } from '../support/sandboxed.ts';

const run = promisify(execFile);
const family = 'Lathe Corporate';
const face = 'LatheCorporate';
let folder: string;
let font: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fonts-test-'));
  font = join(folder, 'corporate.ttf');
  await writeFile(font, await renamedFont(family));
});

afterAll(async () => {
  await closeBrowser();
  await stopOffice();
  await rm(folder, { recursive: true, force: true });
});

/** Converts a file with fonts, as the engine's process does. */
async function convert(engine: Engine, path: string, outputFormat: string, fonts: string[]): Promise<WorkResult> {
  const task = await mkdtemp(join(folder, 'task-'));
  const give = async (source: string, index: number) => {
    const copy = join(task, `in-${index}`);
    await copyFile(source, copy);
    const name = source.split('/').at(-1) ?? '';
    return { path: copy, name, format: name.split('.').at(-1) ?? '', size: (await stat(copy)).size };
  };
  const others = await Promise.all(
    fonts.map(async (path, index) => ({ ...(await give(path, index + 1)), role: 'fonts' as const })),
  );
  const work = {
    operation: 'convert' as const,
    inputs: [await give(path, 0)],
    others,
    outputFormat,
    options: { attachments: 'list' },
    folder: join(task, 'out'),
  };
  await mkdir(work.folder);
  return withFonts(work, () => engine.run(work, quietContext()));
}

async function facesOf({ outputs }: WorkResult): Promise<string> {
  return (await run('pdffonts', [outputs[0]?.path ?? ''])).stdout;
}

async function write(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

const html = `<!doctype html><meta charset="utf-8"><p style="font-family:'${family}'">Words of the page</p>`;

describe('fonts of a task', () => {
  it('draw documents, and only those of their task', async () => {
    const path = await write('a.fodt', flatText(family));

    const drawn = await convert(documents, path, 'pdf', [font]);
    expect(await facesOf(drawn)).toContain(face);
    expect(drawn.warnings).toBeUndefined();

    const other = await convert(documents, path, 'pdf', []);
    expect(await facesOf(other)).not.toContain(face);
    expect(other.warnings).toEqual([`The font ${family} is not installed; Liberation Sans was used.`]);
  }, 60_000);

  it('draw web pages and messages', async () => {
    const page = await write('a.html', html);
    const message = await write('a.eml', `From: a@example.com\r\nSubject: s\r\nContent-Type: text/html\r\n\r\n${html}`);

    expect(await facesOf(await convert(pages, page, 'pdf', [font]))).toContain(face);
    expect(await facesOf(await convert(messages, message, 'pdf', [font]))).toContain(face);
    const other = await convert(pages, page, 'pdf', []);
    expect(await facesOf(other)).not.toContain(face);
    expect(other.warnings).toEqual([
      expect.stringMatching(new RegExp(`^The font ${family} is not installed; .+ was used\\.$`)),
    ]);
  }, 60_000);

  it('draw the pages of a PDF that does not contain them', async () => {
    const path = await write('a.pdf', bareFontPdf(face));

    const [own, others] = [await convert(documents, path, 'png', [font]), await convert(documents, path, 'png', [])];

    expect(own.warnings).toBeUndefined();
    expect(others.warnings).toEqual([
      expect.stringMatching(new RegExp(`^The font ${face} is not in the PDF; .+ was used\\.$`)),
    ]);
    const [left, right] = await Promise.all(
      [own, others].map(async ({ outputs }) =>
        sharp(await readFile(outputs[0]?.path ?? ''))
          .raw()
          .toBuffer(),
      ),
    );
    expect(left?.equals(right ?? Buffer.alloc(0))).toBe(false);
  }, 30_000);

  it('says which fonts have substitutes of the same widths', async () => {
    const path = await write('b.fodt', flatText('Calibri'));

    const { warnings } = await convert(documents, path, 'pdf', []);

    expect(warnings).toEqual([
      'Fonts that are not installed were replaced by others of the same widths: Calibri by Carlito.',
    ]);
  }, 30_000);

  it.each([
    ['text', Buffer.from('not a font')],
    ['a font that is cut off', () => readFile(font).then((bytes) => bytes.subarray(0, 300))],
    ['a web font', Buffer.from('wOF2 and so on')],
  ])('refuses %s', async (_name, content) => {
    const path = join(folder, 'bad\u202e.ttf');
    await writeFile(path, typeof content === 'function' ? await content() : content);

    await expect(convert(pages, await write('a.html', html), 'pdf', [path])).rejects.toThrow(
      /could not be read\. Expected a TrueType or OpenType font|is a web font \(WOFF\)\. Convert it/,
    );
  });

  it('refuses more than fifty', async () => {
    const path = await write('a.html', html);

    await expect(
      convert(
        pages,
        path,
        'pdf',
        Array.from({ length: 51 }, () => font),
      ),
    ).rejects.toThrow(/Expected at most 50 fonts/);
  });
});

function flatText(name: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text">
<office:automatic-styles><style:style style:name="P1" style:family="paragraph"><style:text-properties fo:font-family="${name}"/></style:style></office:automatic-styles>
<office:body><office:text><text:p text:style-name="P1">Words of the document</text:p></office:text></office:body></office:document>`;
}

/** Writes a PDF with a font that it names only. */
function bareFontPdf(name: string): string {
  const content = `BT /F1 36 Tf 20 100 Td (Words) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    `<< /Type /Font /Subtype /TrueType /BaseFont /${name} /Encoding /WinAnsiEncoding /FontDescriptor 6 0 R >>`,
    `<< /Type /FontDescriptor /FontName /${name} /Flags 32 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>`,
  ];
  let pdf = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const at = pdf.length;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`;
  return `${pdf}${table}trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${pdf.length}\n%%EOF\n`;
}
