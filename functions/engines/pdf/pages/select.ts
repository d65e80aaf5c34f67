import { join } from 'node:path';
import { withExtension } from '../../../../shared/files/names.ts';
import type { WorkResult } from '../../runtime/engine.ts';
import { checkPdf, limitByPages, openPdf, type Pdf, runTool } from '../../runtime/pdf-file.ts';
import type { Job } from '../job.ts';
import { PdfObjects } from '../objects.ts';
import { keepPages } from './keep-pages.ts';

/** Opens the input of a job, and limits the processor time by its pages. */
export async function openInput(job: Job): Promise<{ pdf: Pdf; warnings: string[] }> {
  const pdf = await openPdf(job.input.path, job.work.options, job);
  await limitByPages(pdf, job);
  const warnings = pdf.path === job.input.path ? [] : ['The output is not password-protected.'];
  return { pdf, warnings };
}

/**
 * Writes some pages of a PDF, or all of them, and reads the objects of the result. The page tree is flat then, and no page
 * inherits anything. Pages of further files may follow.
 */
export async function readPages(pdf: Pdf, pages: number[], job: Job, further?: string): Promise<PdfObjects> {
  const path = join(job.folder, 'pages.pdf');
  const list = pages.length === pdf.pages && pages.every((page, index) => page === index + 1) ? '1-z' : pages.join(',');
  const others = further === undefined ? [] : [further, '1-z'];
  await runTool(
    'qpdf',
    [pdf.path, '--pages', '.', list, ...others, '--', '--stream-data=preserve', '--warning-exit-0', path],
    job,
  );
  return PdfObjects.read(path, job);
}

/** Makes a PDF of pages in the given order. */
export async function selectInOrder(job: Job, choose: (count: number) => number[], part?: string): Promise<WorkResult> {
  const { pdf, warnings } = await openInput(job);
  const pages = choose(pdf.pages);
  const objects = await readPages(pdf, pages, job);
  job.progress(50);
  warnings.push(...keepPages(objects, objects.pages));
  const path = join(job.folder, 'selected.pdf');
  await objects.write(path, job);
  await checkPdf(path, job.folder, job, pages.length);
  return { outputs: [{ path, name: withExtension(job.input.name, 'pdf', part), format: 'pdf' }], warnings };
}
