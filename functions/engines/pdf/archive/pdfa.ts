import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import mime from 'mime';
import { withExtension } from '../../../../shared/files/names.ts';
import { EngineError } from '../../runtime/engine.ts';
import { archiveWithGhostscript } from '../../runtime/ghostscript.ts';
import { checkPdf, type Pdf, type Programs, runTool } from '../../runtime/pdf-file.ts';
import { checkPictures } from '../../runtime/pdf-pictures.ts';
import type { Job, Operation } from '../job.ts';
import { isReference, PdfObjects, textOf } from '../objects.ts';
import { openInput, readPages } from '../pages/select.ts';
import { treeEntries } from '../pages/targets.ts';
import { normalize } from './normalize.ts';
import { type Level, levels } from './problems.ts';
import { completeSubsets } from './subsets.ts';
import { type Verdict, validatePdfa } from './validate.ts';
import { readXmp } from './xmp.ts';

/** Size of a file that is validated. */
export const maxBytes = 400 * 1024 ** 2;
const maxNamed = 10;

/** Makes a PDF/A. Its outputs are validated; one that does not conform is a failure. */
export const makePdfa: Operation = async (job) => {
  const { work, input } = job;
  const level = levels.find((each) => each === work.options.level) ?? '2b';
  const attachments = (work.others ?? []).filter(({ role }) => role === 'attachments');
  if (attachments.length > 0 && level !== '3b')
    throw new EngineError('Files can only be attached to a PDF/A of level 3b. Set the option level to 3b.');
  const { pdf, warnings } = await openInput(job);
  const whole = attachments.length > 0 ? { ...pdf, path: await attach(pdf, job) } : pdf;
  const archived = await archivePdf(whole, level, job);
  return {
    outputs: [{ path: archived.path, name: withExtension(input.name, 'pdf'), format: 'pdf' }],
    details: { level, conforms: true, method: archived.method },
    warnings: [...warnings, ...archived.warnings],
  };
};

export interface Archived {
  path: string;
  /** Whether the document was kept or its pages were drawn anew. */
  method: 'kept' | 'redrawn';
  warnings: string[];
}

/** Converts a PDF to a level of PDF/A, and validates it. Keeps the document if possible; or else Ghostscript redraws it. */
export async function archivePdf(pdf: Pdf, level: Level, job: Job): Promise<Archived> {
  const warnings = new Set<string>();
  const kept = await tryLevel(pdf, level, job, 'kept', warnings);
  job.progress(50);
  if (kept.verdict.conforms) return { path: kept.path, method: 'kept', warnings: [...warnings] };
  job.log('The PDF is redrawn', { problems: kept.verdict.problems.slice(0, maxNamed).map(({ message }) => message) });
  await checkPictures(pdf.path);
  const redrawn = join(job.folder, 'redrawn.pdf');
  const isTagged = kept.isTagged;
  await redraw(pdf, redrawn, level, job);
  const made = await tryLevel({ ...pdf, path: redrawn }, level, job, 'redrawn', warnings);
  if (!made.verdict.conforms) throw new EngineError(failureOf(made.verdict, level));
  if (level === '1b' && kept.verdict.problems.some(({ clause }) => clause === '6.4'))
    warnings.add('Pages with transparency became pictures, because PDF/A-1 has none. Other levels keep their text.');
  if (isTagged) warnings.add('The tags for screen readers were lost, because the pages had to be redrawn.');
  return { path: made.path, method: 'redrawn', warnings: [...warnings] };
}

/** Names the rules that an output does not conform to. */
export function failureOf({ problems }: Verdict, level: Level): string {
  const part = level === '1b' ? '1' : level[0];
  const named = problems.slice(0, maxNamed).map(({ clause, message, where }) => `${clause} ${message} (${where})`);
  const more = problems.length > named.length ? ` and ${problems.length - named.length} more` : '';
  return `The PDF cannot be converted to PDF/A-${level}. Clauses of ISO 19005-${part}: ${named.join('; ')}${more}.`;
}

async function tryLevel(pdf: Pdf, level: Level, job: Job, name: string, warnings: Set<string>) {
  const pages = Array.from({ length: pdf.pages }, (_, index) => index + 1);
  const withAppearances = join(job.folder, `${name}-fields.pdf`);
  await runTool('qpdf', [pdf.path, '--generate-appearances', '--warning-exit-0', withAppearances], job);
  const objects = await readPages({ ...pdf, path: withAppearances }, pages, job);
  const isTagged = objects.catalog['/StructTreeRoot'] !== undefined;
  const extras = await extrasOf(objects, job);
  await normalize(objects, { level, extras: level === '3b' ? extras : { isUniversal: extras.isUniversal }, warnings });
  const changed = join(job.folder, `${name}-changed.pdf`);
  await objects.write(changed, job);
  const path = join(job.folder, `${name}.pdf`);
  await finish(changed, path, level, job);
  if (level === '1b') {
    const completed = join(job.folder, `${name}-subsets.pdf`);
    if (await completeSubsets(path, completed, job)) await finish(completed, path, level, job);
  }
  await checkPdf(path, job.folder, job, pdf.pages);
  return { path, isTagged, verdict: await judge(path, level) };
}

/** Returns what the metadata of a document say in addition to its information. */
export async function extrasOf(objects: PdfObjects, job: Job) {
  const reference = objects.catalog['/Metadata'];
  if (!isReference(reference) || !objects.isStream(reference)) return {};
  const { stdout } = await runTool(
    'qpdf',
    [`--show-object=${reference.split(' ')[0]}`, '--filtered-stream-data', '--warning-exit-0', objects.path],
    job,
  );
  return readXmp(stdout);
}

/** Writes a PDF in the form that the validator reads. */
export async function finish(input: string, output: string, level: Level | undefined, job: Programs): Promise<void> {
  const version = level === '1b' ? '1.4' : '1.7';
  await runTool(
    'qpdf',
    [
      input,
      '--object-streams=disable',
      '--newline-before-endstream',
      '--compress-streams=y',
      '--decode-level=generalized',
      `--force-version=${version}`,
      '--warning-exit-0',
      output,
    ],
    job,
  );
}

/** Validates a file against a level. */
export async function judge(path: string, level: Level): Promise<Verdict> {
  const data = await readFile(path);
  if (data.length > maxBytes) throw new EngineError('The PDF is too large to be validated. Split it first.');
  return validatePdfa(data, level);
}

/** Draws the pages anew with Ghostscript, and adds the embedded files of the document. */
async function redraw(pdf: Pdf, output: string, level: Level, job: Job): Promise<void> {
  // Ghostscript fails at information that it cannot represent; the metadata are made of that of the document.
  const objects = await PdfObjects.read(pdf.path, job);
  const info = objects.dict(objects.trailer['/Info']) ?? {};
  objects.updateTrailer({ '/Info': undefined });
  objects.updateCatalog({ '/Metadata': undefined, '/OutputIntents': undefined });
  const bare = join(job.folder, 'bare.pdf');
  await objects.write(bare, job);
  const drawn = join(job.folder, 'drawn.pdf');
  await archiveWithGhostscript(bare, drawn, Number(level[0]), job);
  const described = await PdfObjects.read(drawn, job);
  const texts = Object.entries(info).flatMap(([key, value]) => {
    const text = textOf(objects.lookup(value));
    return text === undefined ? [] : [[key, `u:${text}`]];
  });
  described.updateTrailer({ '/Info': described.add(Object.fromEntries(texts)) });
  const names = objects.dict(objects.catalog['/Names']);
  if (level !== '3b' || treeEntries(objects, names?.['/EmbeddedFiles'], '/Names').length === 0)
    return described.write(output, job);
  const written = join(job.folder, 'described.pdf');
  await described.write(written, job);
  await runTool('qpdf', [written, '--copy-attachments-from', pdf.path, '--', '--warning-exit-0', output], job, [0, 2]);
}

/** Adds the given files to a PDF. */
async function attach(pdf: Pdf, job: Job): Promise<string> {
  const output = join(job.folder, 'attached.pdf');
  const used = new Map<string, number>();
  const addAttachment = (job.work.others ?? [])
    .filter(({ role }) => role === 'attachments')
    .map(({ path, name }) => {
      const number = (used.get(name) ?? 0) + 1;
      used.set(name, number);
      const filename = number === 1 ? name : `${number}-${name}`;
      return {
        file: path,
        filename,
        key: filename,
        mimetype: mime.getType(name) ?? 'application/octet-stream',
        replace: '',
      };
    });
  const file = join(job.folder, 'attachments.json');
  await writeFile(file, JSON.stringify({ inputFile: pdf.path, outputFile: output, addAttachment }));
  await runTool('qpdf', [`--job-json-file=${file}`, '--warning-exit-0'], job);
  return output;
}
