/**
 * Measures character error rates of `pdf/ocr` on pages that Chromium draws at 300 dpi: of the text output, and of the
 * searchable PDF as poppler, MuPDF and PDFium read it, next to those of tesseract. Fails if one is 1 % or more although
 * that of tesseract is below. Arguments select languages, such as `ara`.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'puppeteer-core';
import sharp from 'sharp';
import { engine } from '../../../functions/engines/pdf/run.ts';
import { startChromium } from '../../support/chromium.ts';
import { findPythonProgram } from '../../support/python-program.ts';
import { quietContext } from '../../support/sandboxed.ts';
import { errorsBetween } from './errors.ts';
import { type Language, languages } from './texts.ts';

const run = promisify(execFile);
const dpi = 300;
/** A4 in CSS pixels. */
const [width, height] = [794, 1123];
const maxRate = 0.01;

const print = (line: string) => void process.stdout.write(`${line}\n`);

interface Reader {
  read(path: string): Promise<string>;
  /** Why what it reads says nothing about the file. */
  excused?(language: Language, layout: string): boolean;
}

const layouts = {
  'one column, serif': ({ fonts }: Language) => `font: 11pt/1.5 '${fonts[0]}'; padding: 2.5cm`,
  'two columns, sans': ({ fonts }: Language) =>
    `font: 9.5pt/1.6 '${fonts[1]}'; padding: 2cm; columns: 2; column-gap: 1cm`,
};

function stdoutOf(program: string, ...args: string[]): Promise<string> {
  return run(program, args, { maxBuffer: 2 ** 26 }).then(({ stdout }) => stdout);
}

function readers(): Map<string, Reader> {
  const found = new Map<string, Reader>([
    [
      'poppler',
      {
        read: (path) => stdoutOf('pdftotext', '-q', '-enc', 'UTF-8', path, '-'),
        // It guesses where columns are, and mixes these in a PDF by Chromium too.
        excused: (_, layout) => layout.startsWith('two'),
      },
    ],
    [
      'MuPDF',
      {
        read: (path) => stdoutOf('mutool', 'draw', '-q', '-F', 'txt', path),
        // It returns characters in the order of their places, also those of a PDF by LibreOffice.
        excused: ({ code }) => code === 'ara',
      },
    ],
  ]);
  const pdfium = findPythonProgram('pypdfium2', '5.15.2');
  if ('missing' in pdfium) print(`PDFium is left out: pypdfium2 cannot be had, since ${pdfium.missing}.`);
  else
    found.set('PDFium', {
      async read(path) {
        // Its command prints a heading above each page.
        const text = await stdoutOf(pdfium.program, 'extract-text', '--strategy', 'range', path);
        return text.replace(/^# Page \d+$/gm, '');
      },
    });
  return found;
}

async function draw(browser: Browser, language: Language, style: string, path: string): Promise<void> {
  const page = await browser.newPage();
  await page.setViewport({ width, height, deviceScaleFactor: dpi / 96 });
  const text = language.paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('');
  await page.setContent(
    `<html lang="${language.lang}" dir="${language.code === 'ara' ? 'rtl' : 'ltr'}"><body style="margin: 0; box-sizing: border-box; width: 210mm; ${style}"><h1 style="font-size: 1.4em">${language.title}</h1>${text}`,
  );
  const picture = await page.screenshot({ clip: { x: 0, y: 0, width, height } });
  await sharp(picture).greyscale().withDensity(dpi).png().toFile(path);
  await page.close();
}

async function recognise(picture: string, code: string, format: string, folder: string): Promise<string> {
  await mkdir(folder);
  const { size } = await stat(picture);
  const input = { path: picture, name: 'page.png', format: 'png', size };
  const options = { languages: code };
  const { outputs } = await engine.run(
    { operation: 'pdf/ocr', inputs: [input], outputFormat: format, options, folder },
    quietContext(),
  );
  return outputs[0]?.path ?? '';
}

async function measure(words: string[], folder: string): Promise<number> {
  const readings = readers();
  const browser = await startChromium();
  let failed = 0;
  try {
    print(['language', 'layout', 'characters', 'tesseract', 'txt', ...readings.keys()].join('\t'));
    for (const language of languages.filter(({ code }) => words.length === 0 || words.includes(code))) {
      for (const [layout, style] of Object.entries(layouts)) {
        const name = join(folder, `${language.code}-${layout.slice(0, 3)}`);
        await draw(browser, language, style(language), `${name}.png`);
        const expected = [language.title, ...language.paragraphs].join(' ');
        const dpiArgs = ['--dpi', String(dpi)];
        const byTesseract = await stdoutOf('tesseract', `${name}.png`, 'stdout', '-l', language.code, ...dpiArgs);
        const text = await readFile(await recognise(`${name}.png`, language.code, 'txt', `${name}-txt`), 'utf8');
        const pdf = await recognise(`${name}.png`, language.code, 'pdf', `${name}-pdf`);
        const own = errorsBetween(expected, byTesseract);
        const judged = [errorsBetween(expected, text)];
        const cells = judged.map(percent);
        for (const { read, excused } of readings.values()) {
          const rate = errorsBetween(expected, await read(pdf));
          if (excused?.(language, layout)) cells.push(`(${percent(rate)})`);
          else {
            judged.push(rate);
            cells.push(percent(rate));
          }
        }
        if (own < maxRate) failed += judged.filter((rate) => rate >= maxRate).length;
        print([language.code, layout, expected.length, percent(own), ...cells].join('\t'));
      }
    }
  } finally {
    await browser.close();
  }
  return failed;
}

function percent(rate: number): string {
  return `${(100 * rate).toFixed(2)} %`;
}

const folder = await mkdtemp(join(tmpdir(), 'lathe-ocr-'));
try {
  const failed = await measure(process.argv.slice(2), folder);
  print(
    failed === 0
      ? 'No rate is 1 % or more where that of tesseract is below. Rates in parentheses do not count.'
      : `${failed} rates are 1 % or more where that of tesseract is below.`,
  );
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
