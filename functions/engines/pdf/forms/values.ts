import { suggestion } from '../../../../shared/operations/nearest-name.ts';
import type { PdfObjects } from '../objects.ts';
import { type Field, type Form, hasFlag, optionsOf } from './fields.ts';
import { characters } from './layout.ts';
import type { FormRecord, Value } from './records.ts';

/** What a field is set to: a text, the exported values of options, or of a button that is on. */
export interface Assignment {
  field: Field;
  values: string[];
}

const yes = ['true', 'yes', 'on', '1', 'x'];
const no = ['', 'false', 'no', 'off', '0'];
const maxShownOptions = 20;

/** Finds the field of each value of a record, and what the field is set to. Problems name fields, and never values. */
export function assign(
  form: Form,
  record: FormRecord,
  pdf: PdfObjects,
): { assignments: Assignment[]; problems: string[] } {
  const byName = new Map<string, Field[]>();
  for (const field of form.fields) byName.set(field.name, [...(byName.get(field.name) ?? []), field]);
  const assignments: Assignment[] = [];
  const problems: string[] = [];
  for (const [name, value] of record) {
    const fields = byName.get(name);
    if (!fields) problems.push(`The form has no field ${quote(name)}.${suggestion(name, byName.keys())}`);
    else if (value !== null)
      for (const field of fields) {
        const found = valuesFor(field, value, pdf);
        if (typeof found === 'string') problems.push(found);
        else assignments.push({ field, values: found });
      }
  }
  return { assignments, problems };
}

/** Returns what a field is set to, or why it cannot be. */
function valuesFor(field: Field, value: Value, pdf: PdfObjects): string[] | string {
  const name = quote(field.name);
  switch (field.type) {
    case 'text':
      return textFor(field, value, pdf);
    case 'checkbox':
    case 'radio':
      return stateFor(field, value, pdf);
    case 'choice':
    case 'list':
      return optionsFor(field, value, pdf);
    case 'signature':
      return `The field ${name} is for a signature. Use pdf/sign.`;
    default:
      return `The field ${name} is a button and takes no value.`;
  }
}

function textFor(field: Field, value: Value, pdf: PdfObjects): string[] | string {
  if (Array.isArray(value)) return `The field ${quote(field.name)} takes a text, not an array.`;
  const lines = clean(String(value));
  const text = hasFlag(field, 'multiline', pdf) ? lines : lines.replace(/\n+/g, ' ');
  const max = pdf.lookup(field.entries['/MaxLen']);
  const { length } = characters(text);
  if (typeof max === 'number' && max > 0 && length > max)
    return `The text for the field ${quote(field.name)} has ${length} characters; its maximum is ${max}.`;
  return [text];
}

function clean(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|\u2028|\u2029/g, '\n')
    .replace(/\t/g, '    ')
    .replace(/[^\P{Cc}\n]|[\ufffe\uffff]/gu, '');
}

function stateFor(field: Field, value: Value, pdf: PdfObjects): string[] | string {
  const options = optionsOf(field, pdf).map((option) => option.value);
  const [given = '', ...others] = [value].flat().map(String);
  if (others.length === 0) {
    const state = field.widgets.find((widget) => widget.state === given)?.value;
    if (options.includes(given)) return [given];
    if (state !== undefined) return [state];
    const word = given.toLowerCase();
    const [only, another] = options;
    if (yes.includes(word) && only !== undefined && another === undefined) return [only];
    if (no.includes(word)) return [];
  }
  return noSuchOption(field, options, field.type === 'checkbox' ? ' Set it to one of them, true or false.' : '');
}

function optionsFor(field: Field, value: Value, pdf: PdfObjects): string[] | string {
  const options = optionsOf(field, pdf);
  // A cell of a table has several values on lines.
  const isMultiple = field.type === 'list' && hasFlag(field, 'multiple', pdf);
  const given = Array.isArray(value) ? value : isMultiple ? clean(String(value)).split('\n') : [String(value)];
  const wanted = given.filter((each) => each !== '');
  if (wanted.length > 1 && !isMultiple) return `The field ${quote(field.name)} takes one value, not ${wanted.length}.`;
  const isEditable = field.type === 'choice' && hasFlag(field, 'editable', pdf);
  const found = wanted.map(
    (each) =>
      options.find((option) => option.value === each)?.value ??
      options.find((option) => option.label === each)?.value ??
      (isEditable ? clean(each).replace(/\n+/g, ' ') : undefined),
  );
  return found.every((each) => each !== undefined)
    ? found
    : noSuchOption(
        field,
        options.map((option) => option.value),
      );
}

function noSuchOption(field: Field, options: string[], advice = ''): string {
  const shown = options.slice(0, maxShownOptions).map(quote).join(', ');
  const more = options.length > maxShownOptions ? ', …' : '';
  return `The value for the field ${quote(field.name)} is none of its options: ${shown}${more}.${advice}`;
}

export function quote(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 99)}…` : name);
}
