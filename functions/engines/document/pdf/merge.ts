import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { withExtension } from '../../../../shared/files/names.ts';
import type { InputFile, Work, WorkContext, WorkResult } from '../../runtime/engine.ts';
import type { Workspace } from '../../runtime/pdf-file.ts';
import { convert } from '../convert.ts';
import { isDocument } from '../requires.ts';

const laidOut = (names: string[]) =>
  `${names.join(', ')}: LibreOffice laid out this web page, without scripts and with simple styles only. For pages as in a browser, convert it to PDF before the merge.`;

/** Merges documents, PDFs and images into one PDF. Documents are converted to PDF first. */
export async function merge(
  work: Work,
  inputs: { input: InputFile; folder: string }[],
  context: WorkContext,
): Promise<WorkResult> {
  const warnings: string[] = [];
  const pages: InputFile[] = [];
  for (const [index, { input, folder }] of inputs.entries()) {
    const progress = (percent: number) => context.progress(((index + percent / 100) / inputs.length) * 80);
    const space = { ...context, folder, progress };
    pages.push(isDocument(input.format) ? await toPdf(work, input, space, warnings) : input);
  }
  const pagesOfWeb = inputs.filter(({ input: { format } }) => format === 'html' || format === 'xhtml');
  if (pagesOfWeb.length > 0) warnings.push(laidOut(pagesOfWeb.map(({ input }) => JSON.stringify(input.name))));
  // Loaded only if needed: it imports the image decoders.
  const { writePdf } = await import('../../image/encoders/pdf.ts');
  const path = join(work.folder, 'merged.pdf');
  const progress = (percent: number) => context.progress(80 + percent / 5);
  warnings.push(...(await writePdf(path, pages, work, { ...context, progress })));
  const name = withExtension(inputs[0]?.input.name ?? 'merged', 'pdf');
  return { outputs: [{ path, name, format: 'pdf' }], warnings };
}

async function toPdf(work: Work, input: InputFile, space: Workspace, warnings: string[]): Promise<InputFile> {
  const converted = await convert({ ...work, operation: 'convert', options: {} }, input, space);
  warnings.push(...converted.warnings);
  const [made] = converted.outputs;
  if (!made) throw new Error(`The conversion of ${input.format} produced no PDF.`);
  return { ...input, path: made.path, format: 'pdf', size: (await stat(made.path)).size };
}
