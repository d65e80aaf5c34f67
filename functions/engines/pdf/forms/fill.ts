import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { safeName, stemOf, uniqueNames, withExtension } from '../../../../shared/files/names.ts';
import { EngineError } from '../../runtime/engine.ts';
import { justifiedSeconds } from '../../runtime/justified-time.ts';
import { checkFileCount, Outputs } from '../../runtime/outputs.ts';
import { maxPages, pageSuffix } from '../../runtime/pages.ts';
import { checkPdf } from '../../runtime/pdf-file.ts';
import type { Job, Operation } from '../job.ts';
import { missingCharacter } from '../marks/draw.ts';
import type { PdfObjects } from '../objects.ts';
import { pagesOfList } from '../pages/ranges.ts';
import { openInput, readPages } from '../pages/select.ts';
import { removeSignatures } from '../signatures.ts';
import {
  hasAppearance,
  type Look,
  layOutLook,
  lookOf,
  setState,
  textsToMeasure,
  writeAppearance,
} from './appearance.ts';
import { type Copy, copyPages } from './copies.ts';
import { type Form, hasFlag, optionsOf, readForm, valuesOf } from './fields.ts';
import { flatten } from './flatten.ts';
import { type FormRecord, readRecords, recordsOfOption } from './records.ts';
import { drawTexts, Widths } from './text.ts';
import { type Assignment, assign, quote } from './values.ts';

const maxShownProblems = 10;

/** Fills the form of a PDF with one record, or with several for a PDF of each or for one of all. */
export const fill: Operation = async (job) => {
  const { options } = job.work;
  const records = await recordsOf(job);
  const isMerged = options.merge === true && records.length > 1;
  if (!isMerged) checkFileCount(records.length, 'Set merge, or split the data.');
  const { pdf, warnings } = await openInput(job);
  if (pdf.pages * records.length > maxPages)
    throw new EngineError(
      `${records.length} records of ${pdf.pages} pages are more than ${maxPages} pages. Split the data.`,
    );
  const { size } = await stat(pdf.path);
  job.limitProcessorTime(justifiedSeconds({ bytes: size, pages: pdf.pages * records.length }) + 2 * records.length);
  const objects = await readPages(pdf, pagesOfList(undefined, pdf.pages), job);
  warnings.push(...prepare(objects));

  const name = job.input.name;
  const path = (number: number) => join(job.folder, `filled-${number}.pdf`);
  const filler = new Filler(job);
  const outputs = new Outputs(job.work);
  const batches = isMerged ? [records] : records.map((record) => [record]);
  const names = isMerged || records.length === 1 ? [withExtension(name, 'pdf')] : namesOf(records, job);
  for (const [index, batch] of batches.entries()) {
    const part = objects.fresh({ withChanges: true });
    await filler.fill(part, batch, index);
    await part.write(path(index), job);
    await checkPdf(path(index), job.folder, job, pdf.pages * batch.length);
    await outputs.add({ path: path(index), name: names[index] ?? '', format: 'pdf' });
    job.progress((100 * (index + 1)) / batches.length);
  }
  return { outputs: outputs.files, warnings: [...warnings, ...filler.warnings] };
};

async function recordsOf({ work }: Job): Promise<FormRecord[]> {
  const { form_data: given, flatten: isFlattened } = work.options;
  const [data, another] = work.others?.filter(({ role }) => role === 'data') ?? [];
  if (another) throw new EngineError('Expected one file as data but received several.');
  if (data && given !== undefined) throw new EngineError('Set either form_data or data, not both.');
  if (data) return readRecords(data);
  if (given !== undefined) return recordsOfOption(String(given));
  if (isFlattened) return [new Map()];
  throw new EngineError('Set the option form_data, or give a file with the values as data.');
}

/** Removes what contradicts the fields once they are filled. Returns warnings about it. */
function prepare(pdf: PdfObjects): string[] {
  const { fields, roots, entries, hasXfa } = readForm(pdf);
  if (fields.length === 0)
    throw new EngineError(
      hasXfa
        ? 'The form only has XFA fields, which only Adobe’s programs display. Save it as a PDF with AcroForm fields.'
        : 'The PDF has no form fields.',
    );
  const warnings = removeSignatures(pdf);
  const changed = pdf.changed(pdf.catalog['/AcroForm'], {
    '/Fields': roots,
    '/XFA': undefined,
    '/NeedAppearances': undefined,
  });
  // Rights that Adobe's programs grant to one version of a file.
  pdf.updateCatalog({ '/AcroForm': changed, '/Perms': undefined });
  if (hasXfa) warnings.push('The XFA form was removed, since it would hide the values of the fields.');
  // Drawn again, since programs were told not to rely on the appearances.
  if (pdf.lookup(entries['/NeedAppearances']) === true)
    for (const field of fields)
      if (['text', 'choice', 'list'].includes(field.type))
        for (const { reference } of field.widgets) pdf.update(reference, { '/AP': undefined });
  return warnings;
}

/** Fills copies of a form. */
class Filler {
  readonly #warnings = new Set<string>();
  readonly #job: Job;
  readonly #widths = new Widths();
  #isMissing: ((character: string) => boolean) | undefined;

  constructor(job: Job) {
    this.#job = job;
  }

  get warnings(): string[] {
    return [...this.#warnings];
  }

  /** Fills a document with records: each fills a copy of its pages. `first` is the number of records before. */
  async fill(pdf: PdfObjects, records: FormRecord[], first: number): Promise<void> {
    const job = this.#job;
    const isFlattened = job.work.options.flatten === true;
    const original: Copy = { pages: pdf.pages, roots: readForm(pdf).roots };
    const copies = records.length === 1 ? [original] : records.map(() => copyPages(original, pdf));
    const looks = copies.flatMap(({ pages, roots }, index) =>
      this.#setValues(readForm(pdf, pages, roots), records[index] ?? new Map(), first + index, pdf),
    );
    await this.#widths.measure(looks.flatMap(textsToMeasure), job);
    const laidOut = looks.map((look) => layOutLook(look, this.#widths));
    const drawings = await drawTexts(
      laidOut.flatMap(({ placed }) => placed.map(({ text }) => text)),
      pdf,
      job,
    );
    for (const each of laidOut) {
      writeAppearance(each, drawings, pdf);
      if (!each.fits) this.#warnings.add(`A text does not fit into the field ${quote(each.look.field.name)}.`);
    }
    await this.#warnOfMissing(looks);
    if (copies.length > 1) joinCopies(copies, pdf);
    if (isFlattened) {
      for (const { pages } of copies) flatten(pages, pdf);
      pdf.updateCatalog({ '/AcroForm': undefined });
    }
  }

  #setValues(form: Form, record: FormRecord, index: number, pdf: PdfObjects): Look[] {
    const { assignments, problems } = assign(form, record, pdf);
    if (problems.length > 0) this.#report(problems, index);
    const assigned = new Map(assignments.map((each) => [each.field, each]));
    const looks: Look[] = [];
    const empty: string[] = [];
    for (const field of form.fields) {
      const assignment = assigned.get(field);
      const values = assignment?.values ?? valuesOf(field, pdf);
      if (assignment) setValue(assignment, pdf);
      if (values.join('') === '' && hasFlag(field, 'required', pdf) && field.type !== 'button')
        empty.push(quote(field.name));
      for (const widget of field.widgets) {
        if (!assignment && hasAppearance(widget, pdf)) continue;
        if (field.type === 'checkbox' || field.type === 'radio')
          setState(field, widget, values.includes(widget.value), pdf);
        else if (field.type !== 'signature' && field.type !== 'button')
          looks.push(...[lookOf(form, field, widget, values, pdf) ?? []].flat());
      }
    }
    if (empty.length > 0)
      this.#warnings.add(`Required fields are empty: ${empty.slice(0, maxShownProblems).join(', ')}.`);
    const calculated = pdf.array(form.entries['/CO']).length;
    if (calculated > 0 && record.size > 0)
      this.#warnings.add('Fields that the form calculates by JavaScript were not calculated. Set their values.');
    return looks;
  }

  #report(problems: string[], index: number): void {
    const { options, others } = this.#job.work;
    const where = others?.some(({ role }) => role === 'data') ? `Record ${index + 1}: ` : '';
    const shown = problems.slice(0, maxShownProblems);
    const rest = problems.length > shown.length ? ` And ${problems.length - shown.length} more.` : '';
    if (options.on_mismatch !== 'warn') throw new EngineError(`${where}${shown.join(' ')}${rest}`);
    for (const problem of shown) if (this.#warnings.size < 100) this.#warnings.add(`${where}${problem}`);
  }

  async #warnOfMissing(looks: Look[]): Promise<void> {
    this.#isMissing ??= await missingCharacter(this.#job);
    for (const { field, blocks } of looks)
      if (blocks.some(({ text }) => [...text].some((character) => this.#isMissing?.(character))))
        this.#warnings.add(`No installed font has some characters of the field ${quote(field.name)}.`);
  }
}

function setValue({ field, values }: Assignment, pdf: PdfObjects): void {
  const strings = values.map((value) => `u:${value}`);
  const [first] = strings;
  for (const holder of field.holders) {
    if (field.type === 'checkbox' || field.type === 'radio') {
      const on = field.widgets.find(({ value }) => value === values[0]);
      pdf.update(holder, { '/V': on ? `/${on.state}` : '/Off' });
    } else if (field.type === 'text') pdf.update(holder, { '/V': first ?? 'u:', '/RV': undefined });
    else {
      const options = optionsOf(field, pdf).map(({ value }) => value);
      const indexes = values.map((value) => options.indexOf(value)).filter((index) => index >= 0);
      pdf.update(holder, {
        '/V': strings.length > 1 ? strings : first,
        '/I': indexes.length > 0 ? indexes.toSorted((one, other) => one - other) : undefined,
        '/TI': undefined,
      });
    }
  }
}

/** Makes a document of copies of its pages. The fields of each have a parent of their own, so that none share a value. */
function joinCopies(copies: Copy[], pdf: PdfObjects): void {
  const parents = copies.map(({ roots }, index) => {
    const parent = pdf.add({ '/T': `u:${index + 1}`, '/Kids': roots });
    for (const root of roots) pdf.update(root, { '/Parent': parent });
    return parent;
  });
  const pages = copies.flatMap((copy) => copy.pages);
  const tree = pdf.catalog['/Pages'] ?? null;
  for (const page of pages) pdf.update(page, { '/Parent': tree });
  pdf.update(tree, { '/Kids': pages, '/Count': pages.length });
  pdf.updateCatalog({
    '/AcroForm': pdf.changed(pdf.catalog['/AcroForm'], { '/Fields': parents, '/CO': undefined }),
    '/PageLabels': undefined,
    '/StructTreeRoot': undefined,
    '/MarkInfo': undefined,
    '/Outlines': undefined,
    '/Dests': undefined,
    '/OpenAction': undefined,
  });
}

/** Returns the names of the files of records by the option name_pattern. */
function namesOf(records: FormRecord[], { work: { options }, input }: Job): string[] {
  const pattern = String(options.name_pattern ?? '{name}-{n}');
  const names = records.map((record, index) => {
    const given: Record<string, string> = { name: stemOf(input.name), n: pageSuffix(index + 1, records.length) };
    const text = pattern.replace(/\{([^{}]+)\}/g, (all, key: string) => {
      const value = record.get(key);
      const known = value === undefined ? (Object.hasOwn(given, key) ? given[key] : undefined) : String(value ?? '');
      // A slash in a value does not start a folder.
      return (known ?? all).replace(/[/\\]/g, '_');
    });
    return safeName(`${text}.pdf`);
  });
  return uniqueNames(names);
}
