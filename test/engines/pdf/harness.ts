import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { PDFDocument } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { afterAll, beforeAll } from 'vitest';
import { catalogue } from '../../../functions/engines/pdf/catalogue.ts';
import { engine } from '../../../functions/engines/pdf/run.ts';
import type { Work, WorkResult } from '../../../functions/engines/runtime/engine.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions } from '../../../shared/catalogue/options.ts';
import {
  type FileRole,
  outputFormatOf,
  type ProcessingOperation,
  roleNames,
} from '../../../shared/operations/operations.ts';
import { startChromium } from '../../support/chromium.ts';
import { quietContext } from '../../support/sandboxed.ts';
import { soffice } from '../document/samples.ts';

const run = promisify(execFile);
export const known = new Catalogue([catalogue]);
const taskFolders: string[] = [];

// What a test leaves is removed when its file ends, as the worker removes a task's folder when the task ends.
afterAll(async () => {
  for (const folder of taskFolders.splice(0)) await rm(folder, { recursive: true, force: true });
});

export interface PdfRun {
  options?: Record<string, unknown>;
  /** Paths of files by their role. */
  others?: Partial<Record<FileRole, string[]>>;
  /** Defaults to the operation's. */
  outputFormat?: string;
  /** Format of the input. Defaults to its extension. */
  format?: string;
}

/** Gives a test file a folder for its documents, which is removed when its tests end. */
export function folderOfFile(): { at(name: string): string; readonly path: string } {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pdf-test-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return {
    at: (name) => join(folder, name),
    get path() {
      return folder;
    },
  };
}

/** Returns the path of the only output. */
export function only({ outputs }: WorkResult): string {
  const [output, ...others] = outputs;
  if (!output || others.length > 0) throw new Error(`Expected one output but received ${outputs.length}.`);
  return output.path;
}

/** Runs an operation on files as the worker would: options checked, each file under a name that is not the user's. */
export async function runPdf(
  operation: ProcessingOperation,
  path: string | string[],
  settings: PdfRun = {},
): Promise<WorkResult> {
  return engine.run(await workOf(operation, path, settings), quietContext());
}

/** Returns the work of an operation on copies of files. */
export async function workOf(
  operation: ProcessingOperation,
  path: string | string[],
  { options = {}, others = {}, outputFormat, format }: PdfRun = {},
): Promise<Work> {
  const folder = await mkdtemp(join(tmpdir(), 'pdf-task-'));
  taskFolders.push(folder);
  await mkdir(join(folder, 'in'));
  let number = 0;
  const give = async (source: string) => {
    const given = join(folder, 'in', String(number++));
    await copyFile(source, given);
    const { size } = await stat(given);
    return { path: given, name: basename(source), format: extname(source).slice(1), size };
  };
  const inputs = await Promise.all([path].flat().map(give));
  const inputFormat = format ?? inputs[0]?.format ?? '';
  const to = outputFormatOf(operation, outputFormat, inputFormat);
  const match = known.find(operation, inputFormat, to);
  if (!match) throw new Error(`${operation} ${inputFormat} to ${to} is not advertised.`);
  const checked = checkOptions(match.capability.options, options);
  if (Object.keys(checked.errors).length > 0) throw new Error(JSON.stringify(checked.errors));
  const files = await Promise.all(
    roleNames.flatMap((role) => (others[role] ?? []).map(async (source) => ({ ...(await give(source)), role }))),
  );
  return {
    operation,
    inputs: inputs.map((input) => ({ ...input, format: inputFormat })),
    outputFormat: to,
    options: checked.values,
    folder,
    ...(files.length > 0 ? { others: files } : {}),
  };
}

/** Makes a PDF of a flat ODF text, HTML or other source by LibreOffice. `filter` is such as `{"SelectPdfVersion":{…}}`. */
export async function byLibreOffice(path: string, source: string, extension = 'html', filter = ''): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pdf-office-'));
  try {
    const stem = basename(path, '.pdf');
    const from = join(folder, `${stem}.${extension}`);
    await writeFile(from, source);
    const exporter = extension === 'html' ? 'writer_web_pdf_Export' : 'writer_pdf_Export';
    const made = await soffice(from, filter === '' ? 'pdf' : `pdf:${exporter}:${filter}`, folder);
    await copyFile(made, path);
    return path;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes a tagged PDF with bookmarks of HTML by Chromium. */
export async function byChromium(path: string, html: string): Promise<string> {
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.setContent(html);
    await page.pdf({ path, outline: true, tagged: true, printBackground: true, preferCSSPageSize: true });
    return path;
  } finally {
    await browser.close();
  }
}

/** Makes a PDF of PostScript by Ghostscript. */
export async function byGhostscript(path: string, code: string): Promise<string> {
  await run('gs', ['-q', '-dSAFER', '-sDEVICE=pdfwrite', '-o', path, '-c', code]);
  return path;
}

/** Makes a PDF by pdf-lib. */
export async function byPdfLib(path: string, build: (document: PDFDocument) => Promise<void> | void): Promise<string> {
  const document = await PDFDocument.create();
  await build(document);
  await writeFile(path, await document.save());
  return path;
}

/** Makes documents of four producers with chapters of a page each: `Chapter 1` with the text `Words of page 1`. */
export async function chapters(
  folder: string,
  count = 4,
): Promise<Record<'LibreOffice' | 'Chromium' | 'Ghostscript' | 'pdf-lib', string>> {
  const pages = Array.from({ length: count }, (_, index) => index + 1);
  const path = (name: string) => join(folder, `${name}.pdf`);
  const html = `<html><head><title>Chapters</title></head><body>${pages
    .map(
      (page) =>
        `<h1 id="c${page}"${page > 1 ? ' style="page-break-before: always"' : ''}>Chapter ${page}</h1><p>Words of page ${page}. <a href="#c${(page % count) + 1}">The next</a></p>`,
    )
    .join('')}</body></html>`;
  const marks = pages.map((page) => `[/Page ${page} /View [/Fit] /Title (Chapter ${page}) /OUT pdfmark`);
  const drawn = pages.map(
    (page) =>
      `72 700 moveto (Chapter ${page}) show 72 600 moveto (Words of page ${page}.) show [/Rect [72 500 200 520] /Page ${(page % count) + 1} /View [/Fit] /Subtype /Link /ANN pdfmark showpage`,
  );
  const [office, browser, gs, lib] = await Promise.all([
    byLibreOffice(path('LibreOffice'), html),
    byChromium(path('Chromium'), html),
    byGhostscript(path('Ghostscript'), `/Helvetica 20 selectfont ${marks.join(' ')} ${drawn.join(' ')}`),
    byPdfLib(path('pdf-lib'), (document) => {
      for (const page of pages) {
        const made = document.addPage([595, 842]);
        made.drawText(`Chapter ${page}`, { x: 72, y: 700, size: 20 });
        made.drawText(`Words of page ${page}.`, { x: 72, y: 600, size: 12 });
      }
    }),
  ]);
  return { LibreOffice: office, Chromium: browser, Ghostscript: gs, 'pdf-lib': lib };
}

/** Returns the text of each page, by poppler. */
export async function pageTexts(path: string, password = ''): Promise<string[]> {
  const { stdout } = await run('pdftotext', ['-layout', '-upw', password, path, '-'], { maxBuffer: 2 ** 27 });
  return stdout
    .split('\f')
    .slice(0, -1)
    .map((text) => text.trim());
}

/** Throws with what qpdf finds wrong with a PDF, also if it only warns. */
export async function expectSound(path: string, password = ''): Promise<void> {
  const { stdout, stderr } = await run('qpdf', [`--password=${password}`, '--check', path]).catch((error) => error);
  if (stderr !== '' || !/No syntax or stream encoding errors found/.test(stdout))
    throw new Error(`${basename(path)} is not sound:\n${stdout}${stderr}`);
}

/** Returns an entry of pdfinfo, such as `Pages`. */
export async function infoOf(path: string, entry: string, args: string[] = []): Promise<string | undefined> {
  const { stdout } = await run('pdfinfo', [...args, path]);
  return new RegExp(`^${entry}:\\s+(.*)$`, 'm').exec(stdout)?.[1];
}

/** Returns the objects of a PDF in qpdf's JSON form. */
export async function objectsOf(path: string): Promise<Record<string, unknown>> {
  const { stdout } = await run('qpdf', ['--json=2', '--json-key=qpdf', '--json-stream-data=none', path], {
    maxBuffer: 2 ** 27,
  });
  return JSON.parse(stdout).qpdf[1];
}

export interface Picture {
  width: number;
  height: number;
  /** Returns red, green and blue of a pixel. */
  at(x: number, y: number): [number, number, number];
  /** Returns the box around all pixels that are not white, or undefined if there are none. */
  inked(): { left: number; top: number; right: number; bottom: number } | undefined;
  /** Returns the number of pixels of an area that are darker than a value of 255. */
  dark(limit?: number): number;
}

/** Renders a page by poppler, at a pixel per point by default. */
export async function render(path: string, page = 1, dpi = 72): Promise<Picture> {
  const args = ['-r', String(dpi), '-f', String(page), '-l', String(page), '-png', '-cropbox', path];
  const { stdout } = await run('pdftoppm', args, { encoding: 'buffer', maxBuffer: 2 ** 28 });
  const { data, info } = await sharp(stdout)
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const at = (x: number, y: number): [number, number, number] => {
    const offset = 3 * (Math.round(y) * width + Math.round(x));
    return [data[offset] ?? -1, data[offset + 1] ?? -1, data[offset + 2] ?? -1];
  };
  return {
    width,
    height,
    at,
    inked() {
      let [left, top, right, bottom] = [width, height, -1, -1];
      for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) {
          if (Math.min(...at(x, y)) > 245) continue;
          [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
        }
      }
      return right < 0 ? undefined : { left, top, right, bottom };
    },
    dark(limit = 128) {
      let count = 0;
      for (let offset = 0; offset < data.length; offset += 3) if ((data[offset + 1] ?? 255) < limit) count++;
      return count;
    },
  };
}
