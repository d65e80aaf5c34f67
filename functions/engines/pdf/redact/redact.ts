import { join } from 'node:path';
import { withExtension } from '../../../../shared/files/names.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';
import { EngineError } from '../../runtime/engine.ts';
import { checkPdf, limitByPages, openPdf, runTool } from '../../runtime/pdf-file.ts';
import { checkPictures } from '../../runtime/pdf-pictures.ts';
import type { Job, Operation } from '../job.ts';
import { displayedPage } from '../marks/geometry.ts';
import { PdfObjects } from '../objects.ts';
import { withoutCompression } from '../plain.ts';
import { removeSignatures } from '../signatures.ts';
import { Finder } from './find.ts';
import { Redaction } from './pages.ts';
import { applied, box, type Point, type Shape } from './shapes.ts';
import { remainingMatches } from './verify.ts';

/** Removes texts and areas from a PDF, and from everything else in the file that tells of them. */
export const redact: Operation = async (job) => {
  const { options } = job.work;
  const finder = Finder.of(options);
  const areas = areasOf(options.areas);
  if (!finder && areas.length === 0)
    throw new EngineError('Set text, pattern, regex or areas to what is to be removed.');
  const label = options.label === undefined ? undefined : String(options.label);
  if (label !== undefined && finder && finder.count(label) > 0)
    throw new EngineError('The option label has a text that is to be removed. Choose another label.');
  const pdf = await openPdf(job.input.path, options, job);
  await checkPictures(pdf.path);
  for (const { page } of areas)
    if (page !== undefined && page > pdf.pages)
      throw new EngineError(`The document has ${pdf.pages} pages, so page ${page} in areas does not exist.`);
  const warnings = pdf.path === job.input.path ? [] : ['The output is not password-protected.'];
  const plain = await withoutCompression(pdf, job);

  // If a reader still finds something on a page, it is drawn as a picture the next time.
  const pictures = new Set<number>();
  for (let attempt = 1; ; attempt++) {
    await limitByPages(pdf, job);
    const objects = await PdfObjects.read(plain, job, { withData: 'files' });
    const signed = removeSignatures(objects);
    const shapes = objects.pages.map((page, index) =>
      areas
        .filter((area) => area.page === undefined || area.page === index + 1)
        .map((area) => shapeOn(page, area, objects)),
    );
    const redaction = new Redaction(objects, { finder, areas: shapes, pictures, label }, job);
    const result = await redaction.run();
    const path = join(job.folder, 'redacted.pdf');
    await write(objects, path, job);
    await checkPdf(path, job.folder, job, pdf.pages);
    const rest = finder ? await remainingMatches(path, finder, job) : [];
    if (rest.length === 0) {
      const { details, warnings: own } = report(result.counts, result.elsewhere, job);
      warnings.push(...signed, ...result.warnings, ...own);
      return { outputs: [{ path, name: withExtension(job.input.name, 'pdf'), format: 'pdf' }], details, warnings };
    }
    const isNew = rest.some((page) => page > 0 && !pictures.has(page));
    if (!isNew || attempt === 3)
      throw new EngineError(
        'Some of the text could not be removed, so no file was made. Print the document to a new PDF first.',
        {
          detail: `pages ${rest.join(', ')}`,
        },
      );
    for (const page of rest) if (page > 0) pictures.add(page);
  }
};

interface Area {
  /** Undefined for all. */
  page: number | undefined;
  left: number;
  top: number;
  width: number;
  height: number;
}

function areasOf(option: unknown): Area[] {
  if (option === undefined) return [];
  return String(option)
    .split(';')
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const [page = '', numbers = ''] = text.split(':');
      const [left = 0, top = 0, width = 0, height = 0] = numbers.split(',').map(Number);
      if (width === 0 || height === 0) throw new EngineError(`The area ${text.trim()} has no size.`);
      if (page.trim() === '0') throw new EngineError('Page 0 in areas does not exist.');
      return { page: page.trim() === '*' ? undefined : Number(page), left, top, width, height };
    });
}

/** Returns the place of an area on a page as it is stored. */
function shapeOn(page: string, { left, top, width, height }: Area, objects: PdfObjects): Shape {
  const shown = displayedPage(page, objects);
  const y = shown.height - top;
  return box(left, y - height, left + width, y).map((point): Point => applied(shown.matrix, point));
}

async function write(objects: PdfObjects, path: string, job: Job): Promise<void> {
  const loose = `${path}.loose`;
  await objects.write(loose, job);
  const args = [
    '--object-streams=generate',
    '--stream-data=compress',
    '--decode-level=generalized',
    '--warning-exit-0',
  ];
  await runTool('qpdf', [loose, ...args, path], job);
}

/** Returns what the result tells: how much was removed, and never what. */
function report(
  counts: number[],
  elsewhere: number,
  { work: { options } }: Job,
): { details: JsonObject; warnings: string[] } {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const pages = counts.flatMap((count, index) => (count > 0 ? [{ page: index + 1, count }] : []));
  const isFound = total + elsewhere > 0;
  if (!isFound && options.if_nothing_found !== 'warn')
    throw new EngineError('Nothing was found to remove. Check the options, or set if_nothing_found to warn.');
  return {
    details: { redactions: { total, elsewhere, pages: pages.slice(0, 1000) } },
    warnings: isFound ? [] : ['Nothing was found to remove.'],
  };
}
