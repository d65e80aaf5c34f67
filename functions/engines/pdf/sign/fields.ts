import { isReference, type PdfDict, type PdfObjects, type PdfValue, textOf } from '../objects.ts';
import { maxNodes } from '../signatures.ts';

export interface Field {
  reference: string;
  /** With the names of its parents. */
  name: string;
  type: PdfValue;
  dict: PdfDict;
}

/** Returns the fields of a form, without their widgets. */
export function fieldsOf(pdf: PdfObjects): Field[] {
  const form = pdf.dict(pdf.catalog['/AcroForm']);
  const seen = new Set<string>();
  const fields: Field[] = [];
  const pending = pdf.array(form?.['/Fields']).map((field): Pending => ({ field, type: null, names: [] }));
  for (let next = pending.shift(); next && seen.size < maxNodes; next = pending.shift()) {
    const dict = pdf.dict(next.field);
    if (!dict || !isReference(next.field) || seen.has(next.field)) continue;
    seen.add(next.field);
    const own = textOf(pdf.lookup(dict['/T']));
    const names = own === undefined ? next.names : [...next.names, own];
    const type = pdf.lookup(dict['/FT']) ?? next.type;
    const kids = pdf.array(dict['/Kids']);
    for (const field of kids) pending.push({ field, type, names });
    if (own !== undefined || next.names.length === 0)
      fields.push({ reference: next.field, name: names.join('.'), type, dict });
  }
  return fields;
}

interface Pending {
  field: PdfValue;
  type: PdfValue;
  names: string[];
}

/** A signature field with its signature. */
export interface SignedField extends Field {
  signature: PdfDict;
}

export function signedFields(pdf: PdfObjects): SignedField[] {
  return fieldsOf(pdf).flatMap((field) => {
    const signature = pdf.dict(field.dict['/V']);
    return field.type === '/Sig' && signature ? [{ ...field, signature }] : [];
  });
}

/** What a certified document permits: 1 nothing, 2 filling in forms and signing, 3 also annotations. */
export type Permission = 1 | 2 | 3;

/** Returns what a signature permits, if it certifies its document. */
export function permissionOf(signature: PdfDict, pdf: PdfObjects): Permission | undefined {
  for (const reference of pdf.array(signature['/Reference']).slice(0, 10)) {
    const dict = pdf.dict(reference);
    if (pdf.lookup(dict?.['/TransformMethod']) !== '/DocMDP') continue;
    const given = pdf.lookup(pdf.dict(dict?.['/TransformParams'])?.['/P']);
    return given === 1 || given === 3 ? given : 2;
  }
  return undefined;
}

/** Returns which fields a signature locks. */
export function locksOf(signature: PdfDict, pdf: PdfObjects): (name: string) => boolean {
  const locks = pdf
    .array(signature['/Reference'])
    .slice(0, 10)
    .flatMap((reference) => {
      const dict = pdf.dict(reference);
      const params = pdf.dict(dict?.['/TransformParams']);
      if (!params || pdf.lookup(dict?.['/TransformMethod']) !== '/FieldMDP') return [];
      const names = pdf.array(params['/Fields']).map((each) => textOf(pdf.lookup(each)) ?? '');
      return [{ action: pdf.lookup(params['/Action']), names }];
    });
  return (name) =>
    locks.some(({ action, names }) => {
      const isNamed = names.some((each) => name === each || name.startsWith(`${each}.`));
      return action === '/Exclude' ? !isNamed : action === '/Include' ? isNamed : true;
    });
}

/** Returns the pages of a PDF as they are stored, each with what it inherits. */
export function storedPages(pdf: PdfObjects): { reference: string; dict: PdfDict }[] {
  const inheritable = ['/MediaBox', '/CropBox', '/Rotate', '/Resources'];
  const seen = new Set<PdfValue>();
  const pages: { reference: string; dict: PdfDict }[] = [];
  const pending: [PdfValue, PdfDict][] = [[pdf.catalog['/Pages'] ?? null, {}]];
  for (let next = pending.pop(); next && seen.size < maxNodes; next = pending.pop()) {
    const [reference, above] = next;
    const dict = pdf.dict(reference);
    if (!isReference(reference) || !dict || seen.has(reference)) continue;
    seen.add(reference);
    const own = Object.fromEntries(Object.entries(dict).filter(([key]) => inheritable.includes(key)));
    if (dict['/Kids'] === undefined) pages.push({ reference, dict: { ...above, ...dict } });
    else for (const kid of pdf.array(dict['/Kids']).toReversed()) pending.push([kid, { ...above, ...own }]);
  }
  return pages;
}
