import { convert as convertDocument } from '../../document/convert.ts';
import { checkHtml, firstBytes, readChecked } from '../../document/guards/containers.ts';
import { readHtml as readHtmlText, readText } from '../../document/plain-text.ts';
import { EngineError } from '../../runtime/engine.ts';
import { isPicture } from '../formats.ts';
import { paragraph } from '../model.ts';
import type { Parts } from '../ooxml.ts';
import { intermediateOf, packageOf, textual } from './intermediate.ts';
import type { Reading, ReadJob } from './job.ts';

/** Reads a file of any format of this engine. */
export async function read(job: ReadJob): Promise<Reading> {
  const { input } = job;
  if (input.size === 0) throw new EngineError('The file is empty.');
  if (textual.includes(input.format)) return readTextual(job);
  if (isPicture(input.format)) return (await import('./ocr.ts')).readPicture(job);
  if (input.format === 'pdf') return (await import('./pdf.ts')).readPdf(job);
  const parts = await partsOf(job);
  job.progress(40);
  if (input.format === 'epub') return { content: (await import('./epub.ts')).readEpub(parts), warnings: [] };
  switch (packageOf(input.format) ?? intermediateOf(input.format)) {
    case 'docx':
      return { content: (await import('./docx.ts')).readDocx(parts), warnings: [] };
    case 'pptx':
      return { content: (await import('./pptx.ts')).readPptx(parts), warnings: [] };
    default: {
      const { options } = job.work;
      const { readXlsx } = await import('./xlsx.ts');
      const sheet = typeof options.sheet === 'number' ? { sheet: options.sheet } : {};
      return readXlsx(parts, { ...sheet, hidden: options.hidden_sheets === true });
    }
  }
}

/** Returns the parts of a package, checked. LibreOffice makes one of every other document, and opens those with a password. */
async function partsOf(job: ReadJob): Promise<Parts> {
  const { input } = job;
  const start = await firstBytes(input.path, 4);
  if (start.toString('latin1', 0, 2) === 'PK' && (packageOf(input.format) || input.format === 'epub'))
    return readChecked(input.path, input.size);
  const isProtected = start.toString('hex') === 'd0cf11e0';
  const outputFormat = intermediateOf(input.format) ?? (isProtected ? packageOf(input.format) : undefined);
  if (outputFormat === undefined)
    throw new EngineError(
      `The file could not be read as ${input.format}: it is damaged or does not match its extension.`,
    );
  const { password, input_encoding } = job.work.options;
  const options = {
    ...(password === undefined ? {} : { password }),
    ...(input_encoding === undefined ? {} : { input_encoding }),
  };
  const { outputs } = await convertDocument({ ...job.work, outputFormat, options }, input, job);
  const [made] = outputs;
  if (!made) throw new EngineError('The document has no content.');
  return readChecked(made.path, Number.POSITIVE_INFINITY);
}

async function readTextual({ input, work }: ReadJob): Promise<Reading> {
  const encoding = String(work.options.input_encoding ?? 'auto');
  if (input.format === 'html' || input.format === 'xhtml') {
    const { readHtml } = await import('./html.ts');
    const { withEndTags } = await import('./epub.ts');
    const { text, warning } = await readHtmlText(input.path, encoding);
    checkHtml(text);
    return { content: readHtml(input.format === 'xhtml' ? withEndTags(text) : text), warnings: warned(warning) };
  }
  const { text, warning } = await readText(input.path, encoding);
  if (input.format === 'txt') {
    const blocks = text
      .split(/\r?\n[ \t]*(?:\r?\n)+/)
      .filter((part) => part.trim() !== '')
      .map((part) => paragraph(part.trim()));
    return { content: { blocks, notes: new Map(), pictures: [] }, warnings: warned(warning) };
  }
  const { readCsv } = await import('./csv.ts');
  const named = input.format === 'tsv' ? 'tab' : work.options.csv_delimiter;
  return { content: readCsv(text, typeof named === 'string' ? named : undefined), warnings: warned(warning) };
}

function warned(warning: string | undefined): string[] {
  return warning === undefined ? [] : [warning];
}
