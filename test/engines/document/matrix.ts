import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { markupFormat, officeFormat } from '../../../functions/engines/document/formats.ts';
import type { EngineMatrix, Sample } from '../matrix.ts';
import { asciiWords, cells, lotusCells, makeSample, pandoc, soffice, unzip, words } from './samples.ts';
import { shipped } from './shipped.ts';

const run = promisify(execFile);

const images = ['png', 'jpg', 'webp', 'tiff', 'svg'];
/** Formats whose samples or whose letters are of one byte. */
const asciiInputs = ['wpd', 'wmf', 'ps'];
const asciiOutputs = ['wmf'];

/** Cuts off the margins of the sample, and nothing of its words. */
const cropBox = { x: 40, y: 30, width: 500, height: 400 };

/** How the document engine's pairs are proven. */
export const matrix: EngineMatrix = {
  engine: 'document',
  sample: makeSample,
  options(operation): Record<string, unknown> {
    return operation === 'crop' ? cropBox : {};
  },
  async verify(output, input, operation) {
    if ((await stat(output.path)).size === 0) throw new Error('The output is empty.');
    if (images.includes(output.format)) return comparePictures(output.path, input, pageOf(output));
    // The fonts of PostScript need not name their letters, so its pages are compared as pictures too.
    if (output.format === 'ps' || output.format === 'eps')
      return inFolder(async (folder) => {
        const drawn = join(folder, 'drawn.png');
        const crop = output.format === 'eps' ? ['-dEPSCrop'] : [];
        await run('gs', [
          '-q',
          '-dBATCH',
          '-dNOPAUSE',
          ...crop,
          '-r150',
          '-sDEVICE=png16m',
          '-dLastPage=1',
          `-o${drawn}`,
          output.path,
        ]);
        return comparePictures(drawn, input, pageOf(output));
      });
    if (operation === 'crop') await expectPageSize(output.path, cropBox);
    if (operation !== 'convert') return expectWords(await textOf(output), wordsOf(input, output));
    if (officeFormat(input.format)?.kind === 'sheet') return expectCells(await textOf(output), input);
    expectWords(await textOf(output), wordsOf(input, output));
  },
};

function wordsOf(input: Sample, output: Sample): string[] {
  const foreign = shipped[input.format];
  if (foreign) return foreign.words;
  return asciiInputs.includes(input.format) || asciiOutputs.includes(output.format) ? asciiWords : words;
}

async function expectPageSize(path: string, { width, height }: { width: number; height: number }): Promise<void> {
  const { stdout } = await run('pdfinfo', [path]);
  const size = `${width} x ${height} pts`;
  if (!stdout.includes(size)) throw new Error(`The page is not ${size}: ${/Page size:.*/.exec(stdout)?.[0]}`);
}

function expectWords(text: string, expected: string[]): void {
  let from = 0;
  for (const word of expected) {
    const at = text.indexOf(word, from);
    if (at < 0)
      throw new Error(`${JSON.stringify(word)} is missing or out of order in ${JSON.stringify(text.slice(0, 500))}`);
    from = at;
  }
}

function expectCells(text: string, input: Sample): void {
  const expected = shipped[input.format]?.cells ?? (input.format === 'wk1' ? lotusCells : cells).flat();
  for (const cell of expected) {
    const value = String(cell);
    // Mark-up escapes a minus, and some exporters write thousands apart.
    const spellings = [value, value.replace('-', '−'), value.replace('-', '\\-'), value.replace('-', '–')];
    if (!spellings.some((spelling) => text.includes(spelling)))
      throw new Error(`The cell ${value} is missing in ${JSON.stringify(text.slice(0, 500))}`);
  }
}

/** Extracts the text of an output by another program than the one that wrote it. */
export async function textOf({ path, format }: Sample): Promise<string> {
  const markup = markupFormat(format);
  switch (format) {
    case 'pdf':
      return pdfText(path);
    case 'html':
    case 'xhtml':
      return unmark((await readFile(path, 'utf8')).replace(/<(style|script)\b[\s\S]*?<\/\1>/g, ''));
    case 'rtf':
      return inFolder(async (folder) => readFile(await pandoc(path, 'rtf', 'plain', join(folder, 'plain')), 'utf8'));
    case 'doc':
    case 'dot':
    case 'xls':
    case 'xlt':
    case 'ppt':
    case 'pps':
    case 'pot':
    case 'emf':
    case 'wmf':
      return compoundText(path, officeFormat(format)?.kind === 'sheet');
    case 'epub':
      return zipText(path, /\.x?html$/);
    case 'csv':
    case 'tsv':
    case 'slk':
    case 'txt':
      return readFile(path, 'utf8');
    default:
  }
  if (markup?.reads) {
    const reader = markup.reads;
    const read = await inFolder(async (folder) =>
      readFile(await pandoc(path, reader, 'plain', join(folder, 'plain')), 'utf8'),
    );
    return read.replaceAll('\n', ' ');
  }
  if (markup) return unmark(unescaped((await readFile(path, 'utf8')).replaceAll('\n', ' ')));
  const container = officeFormat(format)?.container;
  if (container === 'xml') return unmark(await readFile(path, 'utf8'));
  if (container === 'zip') return zipText(path, /(^content|document|sharedStrings|slide\d+|sheet\d+)\.xml$/);
  throw new Error(`Nothing here reads ${format}.`);
}

async function pdfText(path: string): Promise<string> {
  const { stdout: info } = await run('pdfinfo', [path]);
  if (!/^Pages:\s+[1-9]/m.test(info)) throw new Error('The PDF has no pages.');
  const { stdout } = await run('pdftotext', ['-enc', 'UTF-8', path, '-']);
  return stdout.replaceAll(/[\u202a-\u202e\u200e\u200f]/g, '').normalize('NFKC');
}

async function zipText(path: string, parts: RegExp): Promise<string> {
  const names = Object.entries(await unzip(path)).filter(([name]) => parts.test(name));
  if (names.length === 0) throw new Error('The package lacks its main part.');
  return names.map(([, content]) => unmark(content.toString())).join(' ');
}

function unmark(text: string): string {
  return text
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#x([\da-f]+);/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(
      /&(ouml|szlig|auml|uuml);/g,
      (_, name: string) => ({ ouml: 'ö', szlig: 'ß', auml: 'ä', uuml: 'ü' })[name] ?? '',
    )
    .replaceAll(/\s+/g, ' ');
}

/** Undoes how texinfo and troff write the letters of the samples. */
function unescaped(text: string): string {
  return text
    .replaceAll('@"o', 'ö')
    .replaceAll('@ss{}', 'ß')
    .replaceAll('\\[:o]', 'ö')
    .replaceAll('\\[ss]', 'ß')
    .replaceAll(/\\\[u([\dA-F]{4,5})\]/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
}

/** Reads the letters out of a binary file, of two bytes or of one, and the numbers out of a sheet's records. */
async function compoundText(path: string, numbers: boolean): Promise<string> {
  const bytes = await readFile(path);
  // A copy, since Node reads letters of two bytes beyond the end of a part that begins at an odd byte.
  const wide = [bytes, Buffer.from(bytes.subarray(1))].map((letters) => letters.toString('utf16le'));
  const known = [...words, ...allCells.map(String), ...Object.values(shipped).flatMap((sample) => sample.words)];
  const found = known.filter(
    (word) => wide.some((text) => text.includes(word)) || bytes.includes(Buffer.from(word, 'latin1')),
  );
  return [...found, ...(numbers ? sheetNumbers(bytes) : [])].join(' ');
}

const allCells = [...cells, ...lotusCells, ...Object.values(shipped).map((sample) => sample.cells)].flat();

/** Finds the values of a sheet: numbers of eight bytes, and those packed into four. */
function sheetNumbers(bytes: Buffer): string[] {
  return allCells.flatMap((cell) => {
    if (typeof cell !== 'number') return [];
    const double = Buffer.alloc(8);
    double.writeDoubleLE(cell);
    const whole = Buffer.alloc(4);
    whole.writeInt32LE(Math.trunc(cell) * 4 + 2);
    const hundredth = Buffer.alloc(4);
    hundredth.writeInt32LE(Math.trunc(cell * 100) * 4 + 3);
    const short = Buffer.concat([double.subarray(4)]);
    return [double, whole, hundredth, short].some((form) => bytes.includes(form)) ? [String(cell)] : [];
  });
}

const references = new Map<string, Promise<string>>();
const referenceFolders: string[] = [];

process.once('exit', () => {
  for (const folder of referenceFolders) rmSync(folder, { recursive: true, force: true });
});

/** Makes the pages of an input with programs started for it alone, to compare drawn pages with. */
function referencePdf(input: Sample): Promise<string> {
  const known = references.get(input.path);
  if (known) return known;
  const made = (async () => {
    const folder = await mkdtemp(join(tmpdir(), 'reference-'));
    referenceFolders.push(folder);
    if (input.format === 'pdf') return input.path;
    const copy = join(folder, `reference.${input.format}`);
    await copyFile(input.path, copy);
    if (input.format === 'ps') {
      await run('ps2pdf', [copy, join(folder, 'reference.pdf')]);
      return join(folder, 'reference.pdf');
    }
    const markup = markupFormat(input.format);
    if (markup?.reads)
      return soffice(await pandoc(copy, markup.reads, 'docx', join(folder, 'reference.docx')), 'pdf', folder);
    if (input.format === 'html' || input.format === 'xhtml') {
      const page = join(folder, 'page.html');
      await copyFile(copy, page);
      // As a web document it would get an empty first page.
      return soffice(page, 'pdf', folder, 'HTML (StarWriter)');
    }
    return soffice(copy, 'pdf', folder);
  })();
  references.set(input.path, made);
  return made;
}

/** Tells which page an output shows; the engine numbers their files. */
function pageOf(output: Sample): number {
  return Number(/page-(\d+)\.[^/]*$/.exec(output.path)?.[1] ?? 0) + 1;
}

/** Compares a drawn page with the same page drawn by another renderer: ink in the same places, and enough of it. */
async function comparePictures(picture: string, input: Sample, page: number): Promise<void> {
  const ours = await inkOf(picture);
  const theirs = await inFolder(async (folder) => {
    await run('pdftoppm', [
      '-r',
      '150',
      '-f',
      String(page),
      '-l',
      String(page),
      '-png',
      '-singlefile',
      await referencePdf(input),
      join(folder, 'page'),
    ]);
    return inkOf(join(folder, 'page.png'));
  });
  if (ours.ink < 20) throw new Error('The picture is blank.');
  const ratio = ours.width / ours.height / (theirs.width / theirs.height);
  const upright = Math.abs(ratio - 1) < 0.02;
  // Without a page of its own, as web pages and Lotus sheets are, a document may be laid out on other paper.
  if (!upright && !['html', 'xhtml', 'wk1'].includes(input.format))
    throw new Error(`The picture is ${ours.width} × ${ours.height}, the page ${theirs.width} × ${theirs.height}.`);
  const share = ours.ink / theirs.ink;
  if (share < 0.5 || share > 2) throw new Error(`The picture has ${share.toFixed(2)} times the ink of the page.`);
  if (upright && similarity(ours.grid, theirs.grid) < 0.8)
    throw new Error(`The picture resembles the page by ${similarity(ours.grid, theirs.grid).toFixed(2)} only.`);
}

const side = 64;

async function inkOf(path: string): Promise<{ width: number; height: number; ink: number; grid: Float64Array }> {
  const { width = 0, height = 0 } = await sharp(path).metadata();
  const raw = await sharp(path)
    .flatten({ background: '#ffffff' })
    .greyscale()
    .blur(2)
    .resize(side, side, { fit: 'fill' })
    .raw()
    .toBuffer();
  const grid = Float64Array.from(raw.subarray(0, side * side), (value) => 255 - value);
  return { width, height, ink: grid.reduce((sum, value) => sum + value, 0), grid };
}

function similarity(a: Float64Array, b: Float64Array): number {
  let dot = 0;
  let lengthA = 0;
  let lengthB = 0;
  for (let index = 0; index < a.length; index++) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    dot += x * y;
    lengthA += x * x;
    lengthB += y * y;
  }
  return dot / Math.sqrt(lengthA * lengthB);
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
