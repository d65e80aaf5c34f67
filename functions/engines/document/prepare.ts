import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CompoundFile } from '../runtime/compound-file.ts';
import { EngineError, type InputFile, type Work } from '../runtime/engine.ts';
import { markupFormat, officeFormat } from './formats.ts';
import { checkGzip, checkHtml, checkXml, checkZip, firstBytes, readPart, readRtf } from './guards/containers.ts';
import { defuseContent } from './guards/defuse-content.ts';
import { defuseHtml } from './guards/defuse-html.ts';
import { checkAndDefusePackage, defusePackage } from './guards/defuse-package.ts';
import { Inspection, type SafeFile } from './guards/inspection.ts';
import { checkIwork } from './guards/iwork.ts';
import { fontsInText } from './office/fonts.ts';
import { missingPictures } from './pandoc.ts';
import { readHtml, readText } from './plain-text.ts';

/** Defuses the output of another program before LibreOffice reads it: pandoc passes pictures through unchanged. */
export async function prepareBetween(path: string, format: string, folder: string): Promise<SafeFile> {
  const container = officeFormat(format)?.container;
  if (container === 'zip') return defusePackage(path, folder);
  return container === 'xml' ? defuseXml(path, join(folder, 'between')) : { path, vectors: false };
}

async function defuseXml(from: string, to: string): Promise<SafeFile> {
  const inspection = new Inspection();
  const bytes = await readFile(from);
  await inspection.settle(async () => writeFile(to, await defuseContent(bytes, inspection)));
  return { path: to, vectors: inspection.mayReadVectors, fonts: fontsInText(bytes.toString()) };
}

/** Checks a file before any program reads it, and returns the safe copy. */
export async function prepare(
  input: InputFile,
  { options, outputFormat }: Pick<Work, 'options' | 'outputFormat'>,
  folder: string,
  warnings: string[],
): Promise<SafeFile> {
  if (input.size === 0) throw new EngineError('The file is empty.');
  const container = officeFormat(input.format)?.container ?? markupFormat(input.format)?.container;
  const given = { path: input.path, vectors: false };
  const copy = { path: join(folder, 'prepared'), vectors: false };
  const encoding = String(options.input_encoding ?? 'auto');
  switch (container) {
    case 'zip':
      if (!(await isPackage(input))) return given;
      if (officeFormat(input.format)) return checkAndDefusePackage(input.path, input.size, folder);
      await checkZip(input.path, input.size);
      return given;
    case 'iwork':
      if (await isPackage(input)) await checkZip(input.path, input.size);
      await checkIwork(input, folder);
      return given;
    case 'xml':
      await checkXml(input.path);
      return officeFormat(input.format) ? defuseXml(input.path, copy.path) : given;
    case 'gzip':
      await checkGzip(input.path);
      return given;
    case 'rtf': {
      const bytes = await readRtf(input.path);
      await writeFile(copy.path, bytes);
      return { ...copy, fonts: fontsInText(bytes.toString('latin1')) };
    }
    case 'html': {
      const inspection = new Inspection();
      const { text, warning } = await readHtml(input.path, encoding);
      if (warning !== undefined) warnings.push(warning);
      const page = defuseHtml(text, inspection);
      checkHtml(page);
      if (inspection.missingPictures.length > 0 && outputFormat !== 'txt')
        warnings.push(missingPictures(inspection.missingPictures));
      await writeFile(copy.path, page);
      return { ...copy, vectors: inspection.mayReadVectors };
    }
    case 'text': {
      const { text, warning } = await readText(input.path, encoding);
      if (text.trim() === '') throw new EngineError('The file contains no text.');
      if (warning !== undefined) warnings.push(warning);
      // Excel's declaration of the delimiter is not a row of the table.
      await writeFile(copy.path, input.format === 'csv' ? text.replace(/^sep=.\r?\n/i, '') : text);
      return copy;
    }
    default:
      return given;
  }
}

/**
 * Returns whether a file is a zipped document. A protected Office file is a compound file around the encrypted package, and
 * LibreOffice checks its password. Throws for anything else.
 */
async function isPackage({ path, format }: InputFile): Promise<boolean> {
  const start = await firstBytes(path, 4);
  if (start.toString('hex') === 'd0cf11e0') return false;
  if (start.toString('latin1', 0, 2) === 'PK') return true;
  throw new EngineError(`The file could not be read as ${format}: it is damaged or does not match its extension.`);
}

/** Returns whether a document that failed to load requires a password. */
export async function isProtected(path: string, format: string): Promise<boolean> {
  const container = officeFormat(format)?.container;
  if (container !== 'zip' && container !== 'cfb') return false;
  const bytes = await readFile(path);
  if (bytes.toString('latin1', 0, 2) === 'PK')
    return (await readPart(path, 'META-INF/manifest.xml'))?.includes('encryption-data') ?? false;
  const file = CompoundFile.read(bytes);
  if (!file) return false;
  // Current Office packages are encrypted as a whole. Older formats have a stream, a flag or a record that shows it.
  if (['EncryptedPackage', 'EncryptedSummary'].some((stream) => file.has(stream))) return true;
  if (bytes.includes(Buffer.from('Microsoft Enhanced Cryptographic', 'utf16le'))) return true;
  return isProtectedText(file) || isProtectedSheet(file);
}

const encryptedFlag = 0x0100;

/** Reads the flags of the document (MS-DOC, FibBase), whose place has been the same since Word 6. */
function isProtectedText(file: CompoundFile): boolean {
  const start = file.start('WordDocument', 12);
  return start?.length === 12 && (start.readUInt16LE(10) & encryptedFlag) !== 0;
}

const filePass = 0x2f;
/** Only the start of a workbook and a few settings come before the record. */
const maxSheetStart = 4_096;

/** Looks for the record FilePass among the first ones (MS-XLS, Globals Substream). */
function isProtectedSheet(file: CompoundFile): boolean {
  const start = file.start('Workbook', maxSheetStart) ?? file.start('Book', maxSheetStart);
  for (let at = 0; start && at + 4 <= start.length; at += 4 + start.readUInt16LE(at + 2))
    if (start.readUInt16LE(at) === filePass) return true;
  return false;
}

/** Returns the importer for a document of Word 6 or 95, which have no table stream; undefined for any other file. */
export async function importerOfOldWord(path: string, format: string): Promise<string | undefined> {
  if (format !== 'doc' && format !== 'dot') return undefined;
  const file = CompoundFile.read(await readFile(path));
  const isOld = file?.has('WordDocument') && !file.has('0Table') && !file.has('1Table');
  return isOld ? 'MS WinWord 6.0' : undefined;
}
