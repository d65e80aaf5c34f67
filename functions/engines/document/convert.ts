import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { defined } from '../../../shared/defined.ts';
import { stemOf, withExtension } from '../../../shared/files/names.ts';
import { joinTiffs } from '../image/codecs/tiff-pages.ts';
import { EngineError, type InputFile, type OutputFile, type Work } from '../runtime/engine.ts';
import { archiveWithGhostscript } from '../runtime/ghostscript.ts';
import { type Extent, justifiedSeconds } from '../runtime/justified-time.ts';
import { pageSuffix, pagesOf } from '../runtime/pages.ts';
import {
  checkPdf,
  limitByPages,
  openPdf,
  type Pdf,
  protectPdf,
  selectPages,
  type Workspace,
} from '../runtime/pdf-file.ts';
import { checkPictures } from '../runtime/pdf-pictures.ts';
import { runProgram } from '../runtime/program.ts';
import { officeFormat, perSheet } from './formats.ts';
import { checkZip, markupBytes } from './guards/containers.ts';
import type { SafeFile } from './guards/inspection.ts';
import { previewOf, unreadableIwork } from './guards/iwork.ts';
import { replaceableFonts, substitutedFonts, unembeddedFonts } from './office/fonts.ts';
import {
  convertWithOffice,
  type OfficeFacts,
  type OfficeRequest,
  type Sheet,
  UnreadableDocument,
} from './office/office.ts';
import { loading, paper, pdfPart, storing, type Table, tableOf } from './office/office-filters.ts';
import { convertWithPandoc } from './pandoc.ts';
import { distill } from './pdf/ghostscript.ts';
import { drawPages, type ImageRequest, imageRequest, measurePages, writeHtml, writePostScript } from './pdf/pdf.ts';
import { writeFlow } from './pdf/pdf-flow.ts';
import { writeText } from './pdf/pdf-text.ts';
import { type PageSurvey, surveyPages } from './pdf/survey-pages.ts';
import { importerOfOldWord, isProtected, prepare, prepareBetween } from './prepare.ts';
import { route, type Step } from './route.ts';

/** Progress when pages begin to be drawn. */
export const preparedPercent = 50;

/** Result of one step: a file, or several once sheets or pages are split. */
interface Made {
  path: string;
  /** Added to the name if there are several. */
  suffix?: string;
  /** Set for an input that was made safe for LibreOffice: whether it may read SVGs in it. */
  vectors?: boolean;
  fonts?: string[];
  undrawn?: string[];
}

interface Conversion extends Workspace {
  work: Work;
  input: InputFile;
  /** Whether the pages were not converted by LibreOffice. */
  drawnElsewhere: boolean;
  /** Warnings for the user so far. */
  warnings: string[];
  /** What was found out instead of the output. */
  survey?: PageSurvey;
}

/** Converts a document with the programs of its route. */
export async function convert(
  work: Work,
  input: InputFile,
  space: Workspace,
): Promise<{ outputs: OutputFile[]; warnings: string[]; survey?: PageSurvey }> {
  const { outputFormat } = work;
  const warnings: string[] = [];
  let made: Made[] = [await prepare(input, work, space.folder, warnings)];
  space.progress(5);
  let steps = route(input.format, outputFormat);
  const preview = await findPreview(work, input, steps, space);
  if (preview) {
    made = [{ path: preview.path }];
    steps = steps.slice(1);
  }
  const drawnElsewhere = preview !== undefined || input.format === 'pdf' || input.format === 'ps';
  const conversion: Conversion = { ...space, work, input, drawnElsewhere, warnings };
  for (const [index, step] of steps.entries()) {
    const [only] = made;
    if (!only) break;
    made = await take(conversion, step, only, index, index === steps.length - 1);
    space.progress(5 + ((index + 1) / steps.length) * (preparedPercent - 5));
  }
  await Promise.all(made.map(({ path }) => checkOutput(path, outputFormat)));
  const outputs = made.map(({ path, suffix }) => ({
    path,
    name: withExtension(input.name, outputFormat, suffix),
    format: outputFormat,
  }));
  return { outputs, warnings, ...defined({ survey: conversion.survey }) };
}

/** Returns the pages of an input that needs no layout, unless an option changes them. */
async function findPreview({ options }: Work, input: InputFile, [first]: Step[], space: Workspace) {
  if (!isIwork(input.format) || first?.by !== 'office' || first.to !== 'pdf') return undefined;
  const changing = ['page_size', 'page_orientation', 'image_resolution'];
  return changing.some((name) => options[name] !== undefined) ? undefined : previewOf(input.path, space);
}

const isIwork = (format: string) => officeFormat(format)?.container === 'iwork';

async function take(conversion: Conversion, step: Step, given: Made, index: number, last: boolean): Promise<Made[]> {
  const { work, folder } = conversion;
  const { path } = given;
  switch (step.by) {
    case 'office':
      return byOffice(conversion, step, given, index, last);
    case 'pandoc': {
      const output = join(folder, `${index}.${last ? work.outputFormat : step.to}`);
      conversion.limitProcessorTime(justifiedSeconds(await extentOf(path)));
      const request = { ...step, input: path, output, title: stemOf(conversion.input.name) };
      conversion.warnings.push(...(await convertWithPandoc(request, conversion)));
      return [{ path: output }];
    }
    case 'flow': {
      const output = join(folder, `${index}.fodt`);
      const pdf = await selectedPdf(conversion, path);
      await limitByPages(pdf, conversion);
      await writeFlow(pdf, output, conversion);
      return [{ path: output }];
    }
    case 'distill': {
      const output = join(folder, `${index}.pdf`);
      await distill(path, output, conversion);
      return [{ path: output }];
    }
    default:
      return fromPdf(step, await pdfOf(conversion, path), conversion);
  }
}

async function extentOf(path: string): Promise<Extent> {
  return { bytes: (await stat(path)).size, markupBytes: await markupBytes(path) };
}

async function pdfOf(conversion: Conversion, path: string): Promise<Pdf> {
  if (conversion.input.format === 'pdf') return openPdf(path, conversion.work.options, conversion);
  return checkPdf(path, conversion.folder, conversion);
}

async function fromPdf(step: Step, pdf: Pdf, conversion: Conversion): Promise<Made[]> {
  const { folder, drawnElsewhere } = conversion;
  const { options, outputFormat } = conversion.work;
  const part = drawnElsewhere && step.by === 'pdf' ? pdfPart(options) : 0;
  if (part > 0 || (step.by !== 'pdf' && step.by !== 'text')) await checkPictures(pdf.path);
  const pages = pagesOf(options.page_range, pdf.pages);
  if (step.by === 'images') {
    // The parts of a run have the same fonts.
    if (drawnElsewhere && !conversion.work.part)
      conversion.warnings.push(...(await drawnWithOthers(pdf.path, conversion)));
    const drawn = await drawSelected(pdf, pages, imageRequest(step.format, options), conversion);
    if (step.format === 'tiff' && drawn.length > 1) {
      const output = join(folder, 'pages.tiff');
      const paths = drawn.map(({ path }) => path);
      await joinTiffs(paths, output);
      await Promise.all(paths.map((path) => rm(path)));
      return [{ path: output }];
    }
    if (pages.length === 1) return drawn.map(({ path }) => ({ path }));
    return drawn.map(({ path, page }) => ({ path, suffix: pageSuffix(page, pdf.pages) }));
  }
  const selected = await selectPages(pdf, pages, conversion);
  await limitByPages(selected, conversion);
  const output = join(folder, `output.${outputFormat}`);
  if (step.by === 'text') await writeText(selected, output, options.keep_layout === true, conversion);
  else if (step.by === 'html') await writeHtml(selected, output, conversion);
  else if (step.by === 'postscript') await writePostScript(selected, output, conversion);
  else return [{ path: await finishPdf(selected, part, pdf.path, conversion) }];
  return [{ path: output }];
}

/** Draws the selected pages, or the part of them that is requested. Draws none if a survey of them is. */
async function drawSelected(pdf: Pdf, pages: number[], request: ImageRequest, conversion: Conversion) {
  const { part } = conversion.work;
  const sizes = await measurePages(pdf, pages, request, conversion);
  const drawing = { pdf, pages, sizes, request };
  if (part?.kind === 'pages') return drawPages({ ...drawing, pages: pages.slice(part.from, part.to) }, conversion);
  if (part?.kind === 'survey') {
    const { wholeWithin = 0 } = part;
    const survey = await surveyPages(drawing, wholeWithin, conversion);
    if (survey.seconds > wholeWithin) {
      conversion.survey = survey;
      return [];
    }
  }
  return drawPages(drawing, conversion);
}

/**
 * Applies the options of a PDF: PDF/A if its writer has not done so, or password protection. Verifies the result if it is a new
 * file.
 */
async function finishPdf(pdf: Pdf, part: number, checked: string, conversion: Conversion): Promise<string> {
  const { folder } = conversion;
  const { output_password: password } = conversion.work.options;
  const path = part > 0 ? join(folder, 'archived.pdf') : pdf.path;
  if (part > 0) await archiveWithGhostscript(pdf.path, path, part, conversion);
  if (path !== checked || password !== undefined) await checkPdf(path, folder, conversion, pdf.pages);
  if (typeof password !== 'string') return path;
  const locked = join(folder, 'protected.pdf');
  await protectPdf(path, locked, { user: password }, conversion);
  return locked;
}

/** Returns warnings about fonts that a PDF names but does not contain, so that others are drawn. */
async function drawnWithOthers(path: string, { folder, signal }: Workspace): Promise<string[]> {
  const { stdout } = await runProgram('pdffonts', ['-subst', path], { cwd: folder, signal, successCodes: [0, 1, 99] });
  const rows = stdout.split('\n').slice(2);
  return unembeddedFonts(
    rows.flatMap((row) => {
      const [, font = '', used = ''] = /^(?:[A-Z]{6}\+)?(\S+) +\d+ +\d+ +(\S.*?) {2,}\S/.exec(row) ?? [];
      return font === '' ? [] : [{ font, used }];
    }),
  );
}

/** Lists the fonts of a PDF by their PostScript names. */
async function pdfFaces(path: string, { folder, signal }: Workspace): Promise<string[]> {
  const { stdout } = await runProgram('pdffonts', [path], { cwd: folder, signal });
  const lines = stdout.split('\n').slice(2);
  return lines.flatMap((line) => /^(?:[A-Z]{6}\+)?(\S+)/.exec(line)?.[1] ?? []);
}

async function byOffice(
  conversion: Conversion,
  step: Step & { by: 'office' },
  given: Made,
  index: number,
  last: boolean,
): Promise<Made[]> {
  const { folder } = conversion;
  const { options } = conversion.work;
  const { from, to } = step;
  const safe: SafeFile =
    given.vectors === undefined ? await prepareBetween(given.path, from, folder) : { ...given, vectors: given.vectors };
  const { path, vectors } = safe;
  const table = from === 'csv' || from === 'tsv' ? await readTable(path, from, to, options) : undefined;
  const pdf = from === 'pdf' ? await selectedPdf(conversion, path) : undefined;
  const input = pdf?.path ?? path;
  const extent = { ...(await extentOf(input)), pages: pdf?.pages ?? 0, office: true };
  const importer = from === 'pdf' ? pdfImporter(to) : await importerOfOldWord(path, from);
  const load = {
    ...(from === 'pdf' ? {} : loading(from, options, table)),
    ...(importer === undefined ? {} : { FilterName: importer }),
  };
  const title = stemOf(conversion.input.name);
  const one = officeFormat(from)?.kind === 'sheet' && perSheet.includes(to);
  const ask = async (outputs: { path: string; sheet?: number }[]): Promise<OfficeFacts> => {
    conversion.limitProcessorTime(justifiedSeconds(extent));
    const store = storing(from === 'pdf' ? to : from, to, options);
    const request = defined({
      input,
      load,
      outputs: outputs.map((output) => ({ ...output, store })),
      one,
      vectors,
      page: paper(options),
      settle: to === 'txt' || to === 'html' ? { title, plain: to === 'txt' } : undefined,
      values: (['iso', 'raw'] as const).find((kind) => kind === options.cell_values),
      table: perSheet.includes(from) ? { name: sheetName(title), decimals: decimalsOf(table) } : undefined,
      weigh: isIwork(from),
    });
    return office(request, options, from);
  };
  const wanted = typeof options.sheet === 'number' ? options.sheet : undefined;
  const first = join(folder, `${index}.${to}`);
  const facts = await ask([defined({ path: first, sheet: wanted })]);
  if (facts.pages === 0) throw new EngineError('The document has no pages.');
  if (to === 'pdf') conversion.warnings.push(...(safe.undrawn ?? []));
  // Fonts that an intermediate program chose mean nothing to the user.
  const fonts = to === 'pdf' ? replaceableFonts(given.fonts ?? []) : [];
  if (fonts.length > 0) conversion.warnings.push(...substitutedFonts(fonts, await pdfFaces(first, conversion)));
  if (!one) return [{ path: first }];

  const sheets = facts.sheets ?? [];
  if (wanted !== undefined && wanted > sheets.length)
    throw new EngineError(`The document has ${sheets.length} sheets, so sheet ${wanted} does not exist.`);
  const made: Made[] = [{ path: first }];
  if (wanted === undefined) {
    const chosen = choose(sheets, options, last, conversion.warnings);
    const others = chosen
      .slice(1)
      .map(({ number }) => ({ path: join(folder, `${index}-${number}.${to}`), sheet: number }));
    if (others.length > 0) {
      if (chosen.length > maxSheets)
        throw new EngineError(`The document has ${chosen.length} sheets. Choose one with the option sheet.`);
      await ask(others);
      made.push(...others.map(({ path }) => ({ path })));
      for (const [place, file] of made.entries()) file.suffix = chosen[place]?.name ?? String(place + 1);
    }
  }
  if (last && (to === 'csv' || to === 'tsv'))
    await Promise.all(made.map((file) => recode(file.path, String(options.encoding))));
  return made;
}

const maxSheets = 200;

/** Returns a sheet name from a title: at most 31 characters, without forbidden ones. */
function sheetName(title: string): string {
  return (
    title
      .replaceAll(/[[\]*?:/\\\p{Cc}]/gu, '_')
      .slice(0, 31)
      .toWellFormed()
      .replaceAll(/^'+|'+$/g, '_') || 'Sheet1'
  );
}

function decimalsOf(table: Table | undefined): [column: number, places: number][] {
  return (table?.columns ?? []).flatMap(({ decimals }, index) => (decimals > 0 ? [[index, decimals]] : []));
}

/** Determines how to read a delimited text. Values stay as written unless the output is a spreadsheet. */
async function readTable(path: string, from: string, to: string, options: OptionValues): Promise<Table> {
  const text = await readFile(path, 'utf8');
  const named = from === 'tsv' ? 'tab' : options.csv_delimiter;
  const table = tableOf(text, typeof named === 'string' ? named : undefined);
  const keepText = perSheet.includes(to) || options.column_types === 'text';
  return keepText ? { ...table, columns: table.columns.map(() => ({ isNumber: false, decimals: 0 })) } : table;
}

/** Returns the visible sheets with content, or all sheets if there are none. The first is the one that LibreOffice writes by default. */
function choose(
  sheets: Sheet[],
  options: OptionValues,
  all: boolean,
  warnings: string[],
): (Sheet & { number: number })[] {
  const numbered = sheets.map((sheet, index) => ({ ...sheet, number: index + 1 }));
  const shown = numbered.filter(({ hidden, empty }) => !hidden && !empty);
  const first = shown[0] ?? numbered[0];
  if (!first) return [];
  if (!all) {
    const [, ...others] = shown;
    if (others.length > 0)
      warnings.push(
        `Only the sheet ${quoted([first])} was converted, not ${quoted(others)}. Choose another with the option sheet.`,
      );
    return [first];
  }
  const wanted = numbered.filter(
    ({ hidden, empty, number }) =>
      number === first.number ||
      ((!hidden || options.hidden_sheets === true) && (!empty || options.empty_sheets === true)),
  );
  const left = numbered.filter((sheet) => sheet.hidden && !sheet.empty && !wanted.includes(sheet));
  if (left.length > 0)
    warnings.push(
      `The hidden ${left.length === 1 ? 'sheet' : 'sheets'} ${quoted(left)} ${left.length === 1 ? 'was' : 'were'} left out. Set hidden_sheets to convert hidden sheets, too.`,
    );
  return wanted;
}

const quoted = (sheets: Sheet[]) => sheets.map(({ name }) => `"${name}"`).join(', ');

async function recode(path: string, encoding: string): Promise<void> {
  if (encoding === 'utf-8' || encoding === 'undefined') return;
  const text = await readFile(path, 'utf8');
  if (encoding === 'utf-8-bom') await writeFile(path, `\ufeff${text}`);
  else if (encoding === 'utf-16le') await writeFile(path, `\ufeff${text}`, 'utf16le');
  else await writeFile(path, encodeWestern(text));
}

/** The 32 characters in which Windows-1252 differs from Latin-1. */
const western = new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 32 }, (_, index) => 0x80 + index));

function encodeWestern(text: string): Buffer {
  const bytes = Array.from(text, (letter) => {
    const place = western.indexOf(letter);
    if (place >= 0) return 0x80 + place;
    const code = letter.codePointAt(0) ?? 0;
    return code < 0x100 ? code : 0x3f;
  });
  return Buffer.from(bytes);
}

function pdfImporter(to: string): string {
  const kind = officeFormat(to)?.kind;
  return kind === 'slides' ? 'impress_pdf_import' : kind === 'drawing' ? 'draw_pdf_import' : 'writer_pdf_import';
}

async function selectedPdf(conversion: Conversion, path: string): Promise<Pdf> {
  const pdf = await pdfOf(conversion, path);
  await checkPictures(pdf.path);
  return selectPages(pdf, pagesOf(conversion.work.options.page_range, pdf.pages), conversion);
}

async function office(request: OfficeRequest, options: OptionValues, format: string): Promise<OfficeFacts> {
  try {
    const facts = await convertWithOffice(request);
    if (facts.empty) throw unreadableIwork(format, 'LibreOffice loaded an empty document');
    return facts;
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    if (isIwork(format)) throw unreadableIwork(format, error.detail);
    if (!(await isProtected(request.input, format))) throw error;
    throw new EngineError(
      options.password === undefined
        ? 'The document is password-protected. Set the option password.'
        : 'The option password does not open the document.',
      { detail: error.detail },
    );
  }
}

/** Verifies that an output is not empty, and that it is complete if its format allows that check. */
async function checkOutput(path: string, format: string): Promise<void> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size === 0) throw new EngineError('The output is empty: the document has no content that this format supports.');
  const container = officeFormat(format)?.container;
  if (format === 'epub' || (container === 'zip' && (await readFile(path)).subarray(0, 2).toString() === 'PK'))
    await checkZip(path, Math.max(size, 1_000_000));
  if (format === 'txt' && (await readFile(path, 'utf8')).replace('\ufeff', '').trim() === '')
    throw new EngineError('The document contains no text.');
}
