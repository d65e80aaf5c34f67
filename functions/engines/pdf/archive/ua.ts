import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stemOf, withExtension } from '../../../../shared/files/names.ts';
import { EngineError } from '../../runtime/engine.ts';
import { checkPdf, type Pdf } from '../../runtime/pdf-file.ts';
import type { Job, Operation } from '../job.ts';
import { type PdfDict, type PdfObjects, textOf } from '../objects.ts';
import { openInput, readPages } from '../pages/select.ts';
import { markBackgrounds } from './backgrounds.ts';
import { normalize } from './normalize.ts';
import { extrasOf, finish, maxBytes } from './pdfa.ts';
import type { Problem } from './problems.ts';
import { untagged } from './tagged-content.ts';
import { validateUa } from './validate-ua.ts';

const maxNamed = 20;

/** Makes a PDF/UA of a tagged PDF. */
export const makeUa: Operation = async (job) => {
  const { pdf, warnings } = await openInput(job);
  const made = await makeUniversal(pdf, job);
  return {
    outputs: [{ path: made.path, name: withExtension(job.input.name, 'pdf'), format: 'pdf' }],
    details: made.details,
    warnings: [...warnings, ...made.warnings],
  };
};

/**
 * Gives a tagged PDF what PDF/UA requires of the document as a whole, and validates it. `isOurs` is whether LibreOffice has
 * tagged it for us, so that what it leaves out is known.
 */
export async function makeUniversal(pdf: Pdf, job: Job, isOurs = false) {
  const pages = Array.from({ length: pdf.pages }, (_, index) => index + 1);
  const objects = await readPages(pdf, pages, job);
  if (!objects.dict(objects.catalog['/StructTreeRoot']))
    throw new EngineError(
      'The PDF has no tags, so it cannot be made accessible. Convert the document that it was made of, such as a docx.',
    );
  const warnings = new Set<string>();
  const { invoice } = await extrasOf(objects, job);
  universalize(objects, job, warnings);
  await normalize(objects, { level: undefined, extras: { isUniversal: true, invoice }, warnings });
  const changed = join(job.folder, 'ua-changed.pdf');
  const path = join(job.folder, 'ua.pdf');
  await objects.write(changed, job);
  await finish(changed, path, undefined, job);
  await checkPdf(path, job.folder, job, pdf.pages);
  let problems = await problemsOf(path);
  const marked = join(job.folder, 'ua-marked.pdf');
  if (isOurs && problems.some(({ message }) => message === untagged) && (await markBackgrounds(path, marked, job))) {
    await finish(marked, path, undefined, job);
    problems = await problemsOf(path);
  }
  if (problems.length > 0) {
    const named = problems
      .slice(0, maxNamed)
      .map(({ clause, message, where }) => `${clause} ${message}${where ? ` (${where})` : ''}`);
    throw new EngineError(
      `The document is not accessible yet. Change it, and convert it again. Clauses of ISO 14289-1: ${named.join('; ')}.`,
    );
  }
  return { path, details: { standard: 'PDF/UA-1', conforms: true }, warnings: [...warnings] };
}

async function problemsOf(path: string): Promise<Problem[]> {
  const data = await readFile(path);
  if (data.length > maxBytes) throw new EngineError('The PDF is too large to be validated. Split it first.');
  return validateUa(data).problems;
}

function universalize(pdf: PdfObjects, { work, input }: Job, warnings: Set<string>): void {
  const { catalog } = pdf;
  const entries: PdfDict = {
    '/ViewerPreferences': pdf.changed(catalog['/ViewerPreferences'], { '/DisplayDocTitle': true }),
  };
  if (catalog['/MarkInfo'] === undefined) entries['/MarkInfo'] = { '/Marked': true };
  if (!textOf(pdf.lookup(catalog['/Lang'])) && work.options.language !== undefined)
    entries['/Lang'] = `u:${work.options.language}`;
  pdf.updateCatalog(entries);
  const { '/Info': info } = pdf.trailer;
  if (!textOf(pdf.lookup(pdf.dict(info)?.['/Title']))?.trim()) {
    warnings.add('The document has no title. The name of the file is used.');
    pdf.updateTrailer({ '/Info': pdf.changed(info, { '/Title': `u:${stemOf(input.name)}` }) });
  }
  for (const page of pdf.pages) {
    const annotations = pdf.array(pdf.dict(page)?.['/Annots']);
    if (annotations.length === 0) continue;
    pdf.update(page, { '/Tabs': '/S' });
    for (const annotation of annotations) {
      const dict = pdf.dict(annotation) ?? {};
      const address = textOf(pdf.lookup(pdf.dict(dict['/A'])?.['/URI']));
      if (dict['/Subtype'] === '/Link' && !textOf(pdf.lookup(dict['/Contents'])) && address)
        pdf.changed(annotation, { '/Contents': `u:${address}` });
    }
  }
}
