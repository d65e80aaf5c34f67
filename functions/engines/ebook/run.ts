import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withExtension } from '../../../shared/files/names.ts';
import { checkXml, checkZip, readRtf } from '../document/guards/containers.ts';
import { defusePackage } from '../document/guards/defuse-package.ts';
import { convertWithOffice } from '../document/office/office.ts';
import {
  type Engine,
  EngineError,
  type InputFile,
  type OutputFile,
  type Work,
  type WorkContext,
} from '../runtime/engine.ts';
import { checkPdf } from '../runtime/pdf-file.ts';
import { ProgramError, runProgram } from '../runtime/program.ts';

const timeoutMs = 400_000;
const zipped = ['epub', 'htmlz', 'txtz', 'docx', 'odt'];

/** Converts e-books with Calibre. */
export const engine: Engine = {
  async run(work, context) {
    const outputs: OutputFile[] = [];
    for (const [index, input] of work.inputs.entries()) {
      const folder = join(work.folder, `book-${index}`);
      await mkdir(folder);
      outputs.push(await convert(work, input, folder, context));
      context.progress(((index + 1) / work.inputs.length) * 100);
    }
    return { outputs };
  },
};

async function convert(work: Work, input: InputFile, folder: string, context: WorkContext): Promise<OutputFile> {
  const { outputFormat } = work;
  if (input.size === 0) throw new EngineError('The file is empty.');
  if (zipped.includes(input.format)) await checkZip(input.path, input.size);
  if (input.format === 'fb2') await checkXml(input.path);
  // Calibre detects formats by extension.
  const source = join(folder, `source.${input.format}`);
  await copyFile(await withoutReferences(input, folder), source);
  if (outputFormat === 'pdb') await checkLetters(source, work, folder, context);
  const path = join(folder, `book.${outputFormat}`);
  if (outputFormat === 'pdf') await writePdf(source, path, work, folder, context);
  else await calibre(source, path, work, folder, context);
  await checkOutput(path, outputFormat);
  return { path, name: withExtension(input.name, outputFormat), format: outputFormat };
}

/** Removes references to images, which Calibre would load in a document. It does not load those of books. */
async function withoutReferences({ path, format }: InputFile, folder: string): Promise<string> {
  if (format === 'docx' || format === 'odt') return (await defusePackage(path, folder)).path;
  if (format !== 'rtf') return path;
  const copy = join(folder, 'defused');
  await writeFile(copy, await readRtf(path));
  return copy;
}

/**
 * Writes pages with LibreOffice. Calibre would start a browser for them, which cannot run without access to the files of the
 * system.
 */
async function writePdf(source: string, path: string, work: Work, folder: string, context: WorkContext): Promise<void> {
  const docx = join(folder, 'book.docx');
  await calibre(source, docx, work, folder, context);
  context.progress(60);
  const store = { FilterName: 'writer_pdf_Export' };
  // Calibre copies the images of a book unchanged.
  const { path: input, vectors } = await defusePackage(docx, folder);
  await convertWithOffice({ input, vectors, load: { FilterName: 'MS Word 2007 XML' }, outputs: [{ path, store }] });
  await checkPdf(path, folder, context);
}

async function calibre(source: string, output: string, work: Work, folder: string, { signal, progress }: WorkContext) {
  const { book_title: title, book_author: author } = work.options;
  const args = [
    ...(typeof title === 'string' ? [`--title=${title}`] : []),
    ...(typeof author === 'string' ? [`--authors=${author}`] : []),
    // Read as plain text: as markup, it could reference images to load.
    ...(source.endsWith('.txt') ? ['--formatting-type=plain'] : []),
    ...(output.endsWith('.txt') ? ['--txt-output-formatting=plain'] : []),
  ];
  const home = join(folder, 'home');
  await mkdir(home, { recursive: true });
  const env = {
    HOME: home,
    TMPDIR: home,
    CALIBRE_CONFIG_DIRECTORY: home,
    CALIBRE_TEMP_DIR: home,
    XDG_RUNTIME_DIR: home,
    QT_QPA_PLATFORM: 'offscreen',
    LANG: 'C.UTF-8',
  };
  const onStdoutLine = (line: string) => {
    const percent = /^(\d+)% /.exec(line)?.[1];
    if (percent) progress(Number(percent) / 2);
  };
  try {
    await runProgram('ebook-convert', [source, output, ...args], { cwd: folder, env, signal, timeoutMs, onStdoutLine });
  } catch (error) {
    throw explain(error);
  }
}

function explain(error: unknown): unknown {
  if (!(error instanceof ProgramError)) return error;
  const said = `${error.stdout}\n${error.stderr}`.trim();
  const detail = said.split('\n').slice(-6).join('\n');
  if (error.timedOut) return new EngineError('The book takes too long to convert. Split it.', { detail });
  if (/\bDRM\b/.test(said)) return new EngineError('The book is protected by DRM and cannot be converted.', { detail });
  const msg = 'The book could not be read: it is damaged, incomplete or does not match its extension.';
  return new EngineError(msg, { detail });
}

/** Rejects characters outside of Palm's Western European character set, which would become question marks. */
async function checkLetters(source: string, work: Work, folder: string, context: WorkContext): Promise<void> {
  const plain = join(folder, 'plain.txt');
  await calibre(source, plain, work, folder, context);
  const strange =
    /[^\p{ASCII}\u0080-\u00ff\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2000-\u203a\u20ac\u2122\ufeff]/u.exec(
      await readFile(plain, 'utf8'),
    )?.[0];
  if (strange !== undefined)
    throw new EngineError(`The pdb format does not support characters such as "${strange}". Choose epub or mobi.`);
}

async function checkOutput(path: string, format: string): Promise<void> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size === 0)
    throw new EngineError('The output is empty: the book is damaged or has no content that this format supports.');
  if (zipped.includes(format)) await checkZip(path, Math.max(size, 1_000_000));
  if (format === 'txt' && (await readFile(path, 'utf8')).replace('\ufeff', '').trim() === '')
    throw new EngineError('The book contains no text.');
}
