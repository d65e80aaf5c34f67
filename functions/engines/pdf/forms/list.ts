import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defined } from '../../../../shared/defined.ts';
import { withExtension } from '../../../../shared/files/names.ts';
import type { Operation } from '../job.ts';
import { boxOf, displayedPage, inverse } from '../marks/geometry.ts';
import { isDict, type PdfObjects, textOf } from '../objects.ts';
import { pagesOfList } from '../pages/ranges.ts';
import { openInput, readPages } from '../pages/select.ts';
import { type Field, hasFlag, optionsOf, readForm, valuesOf, type Widget } from './fields.ts';

const maxTextLength = 10_000;
const maxNameLength = 1_000;
const maxFields = 20_000;
const maxOptions = 2_000;

/** Lists the fields of a form as JSON. */
export const listForms: Operation = async (job) => {
  const { pdf } = await openInput(job);
  const objects = await readPages(pdf, pagesOfList(undefined, pdf.pages), job);
  const { fields, hasXfa } = readForm(objects);
  const shown = fields.slice(0, maxFields).map((field) => describe(field, objects));
  const path = join(job.folder, 'forms.json');
  await writeFile(path, `${JSON.stringify({ pages: pdf.pages, xfa: hasXfa, fields: shown }, null, 2)}\n`);
  const warnings = fields.length > maxFields ? [`Only ${maxFields} of ${fields.length} fields are listed.`] : [];
  return {
    outputs: [{ path, name: withExtension(job.input.name, 'json'), format: 'json' }],
    details: { fields: fields.length, xfa: hasXfa },
    warnings,
  };
};

function describe(field: Field, pdf: PdfObjects): object {
  const has = (flag: Parameters<typeof hasFlag>[1]) => hasFlag(field, flag, pdf);
  const { type, entries } = field;
  const maxLength = pdf.lookup(entries['/MaxLen']);
  const options = optionsOf(field, pdf).slice(0, maxOptions);
  const isText = type === 'text';
  const isChoice = type === 'choice' || type === 'list';
  const isMultiple = type === 'list' && has('multiple');
  const shown = (values: string[]) => {
    const texts = values.slice(0, maxOptions).map((value) => bounded(value));
    return isMultiple ? texts : (texts[0] ?? null);
  };
  const label = textOf(pdf.lookup(entries['/TU']));
  return defined({
    name: bounded(field.name, maxNameLength),
    label: label && bounded(label, maxNameLength),
    type,
    value: type === 'signature' ? undefined : shown(valuesOf(field, pdf)),
    default: type === 'signature' ? undefined : shown(valuesOf(field, pdf, '/DV')),
    signed: type === 'signature' ? isDict(pdf.dict(entries['/V'])) : undefined,
    options:
      options.length > 0
        ? options.map(({ value, label }) => ({ value: bounded(value), label: bounded(label) }))
        : undefined,
    required: has('required'),
    read_only: has('readOnly'),
    multiline: isText ? has('multiline') : undefined,
    password: isText ? has('password') : undefined,
    comb: isText ? has('comb') : undefined,
    max_length: isText && typeof maxLength === 'number' && maxLength > 0 ? Math.trunc(maxLength) : undefined,
    editable: type === 'choice' ? has('editable') : undefined,
    multiple: isChoice ? isMultiple : undefined,
    widgets: field.widgets.slice(0, maxOptions).map((widget) => place(widget, type, pdf)),
  });
}

/** Returns where a widget is on its page as displayed, in points from the top left corner. */
function place({ reference, page, value }: Widget, type: Field['type'], pdf: PdfObjects): object {
  const box = boxOf(pdf.dict(reference)?.['/Rect'], pdf);
  const isButton = type === 'checkbox' || type === 'radio';
  const on = pdf.pages[page ?? -1];
  return defined({
    page: page === undefined ? null : page + 1,
    ...(box && on !== undefined ? displayedBox(box, on, pdf) : {}),
    value: isButton ? bounded(value) : undefined,
  });
}

function displayedBox([left, bottom, right, top]: [number, number, number, number], page: string, pdf: PdfObjects) {
  const { height, matrix } = displayedPage(page, pdf);
  const [a, b, c, d, e, f] = inverse(matrix);
  const corners = [
    [left, bottom],
    [right, top],
  ].map(([x = 0, y = 0]) => [a * x + c * y + e, b * x + d * y + f]);
  const [[x1 = 0, y1 = 0] = [], [x2 = 0, y2 = 0] = []] = corners;
  return {
    left: rounded(Math.min(x1, x2)),
    top: rounded(height - Math.max(y1, y2)),
    width: rounded(Math.abs(x2 - x1)),
    height: rounded(Math.abs(y2 - y1)),
  };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

function bounded(text: string, length = maxTextLength): string {
  return (text.length > length ? `${text.slice(0, length - 1)}…` : text).toWellFormed();
}
