import { isDict, isReference, type PdfDict, type PdfObjects, type PdfValue, textOf } from '../objects.ts';
import { maxNodes } from '../signatures.ts';

export type FieldType = 'text' | 'checkbox' | 'radio' | 'choice' | 'list' | 'button' | 'signature';

/** Bits of the entry Ff. */
export const flags = {
  readOnly: 1 << 0,
  required: 1 << 1,
  multiline: 1 << 12,
  password: 1 << 13,
  radio: 1 << 15,
  button: 1 << 16,
  combo: 1 << 17,
  editable: 1 << 18,
  multiple: 1 << 21,
  comb: 1 << 24,
} as const;

export interface Option {
  /** What is stored and exported. */
  value: string;
  /** What is displayed. */
  label: string;
}

export interface Widget {
  reference: string;
  /** Index of its page, if it is on one. */
  page: number | undefined;
  /** Of a checkbox or radio button: the name of its appearance when it is on, without the slash, and what that exports. */
  state: string;
  value: string;
}

export interface Field {
  /** Fully qualified. */
  name: string;
  type: FieldType;
  /** The entries of the field with those that it inherits. */
  entries: PdfDict;
  /** The objects that hold its value: several if fields of one name were not joined. */
  holders: string[];
  widgets: Widget[];
}

export interface Form {
  fields: Field[];
  /** The roots of the trees of fields, including those that the document does not list. */
  roots: string[];
  /** The entries of the form itself. */
  entries: PdfDict;
  hasXfa: boolean;
}

const inheritable = ['/FT', '/Ff', '/V', '/DV', '/MaxLen', '/Opt', '/DA', '/Q'];
/** Deeper fields are left out. */
const maxDepth = 50;

interface Node {
  reference: string;
  name: string;
  entries: PdfDict;
  /** The field that it is a widget of, if it has no name itself. */
  holder: string | undefined;
  depth: number;
}

/** Reads the fields of a form in their order, also those that only pages refer to. */
export function readForm(pdf: PdfObjects, pages: string[] = pdf.pages, given?: string[]): Form {
  const entries = pdf.dict(pdf.catalog['/AcroForm']) ?? {};
  const pageOf = new Map<string, number>();
  for (const [index, page] of pages.entries())
    for (const annotation of referencesOf(page, '/Annots', pdf))
      if (!pageOf.has(annotation)) pageOf.set(annotation, index);
  const listed = given ?? listedFields(pdf);
  const seen = new Set<string>();
  const found = new Map<string, Field>();
  const usual = pick(entries, ['/DA', '/Q']);
  const read = (root: string) => {
    const pending: Node[] = [{ reference: root, name: '', entries: usual, holder: undefined, depth: 0 }];
    for (let node = pending.pop(); node && seen.size < maxNodes; node = pending.pop()) {
      const dict = pdf.dict(node.reference);
      if (!dict || seen.has(node.reference) || node.depth > maxDepth) continue;
      seen.add(node.reference);
      const own = textOf(pdf.lookup(dict['/T']));
      const name = own === undefined ? node.name : node.name === '' ? own : `${node.name}.${own}`;
      const holder = own === undefined && node.holder !== undefined ? node.holder : node.reference;
      const all = { ...node.entries, ...pick(dict, inheritable), ...(own === undefined ? {} : { '/TU': dict['/TU'] }) };
      const kids = referencesOf(node.reference, '/Kids', pdf);
      for (const reference of kids.toReversed())
        pending.push({
          reference,
          name,
          entries: all,
          holder: own === undefined ? node.holder : holder,
          depth: node.depth + 1,
        });
      if (kids.length === 0) addWidget(found, { ...node, name, entries: all, holder }, pageOf.get(node.reference), pdf);
    }
  };
  for (const root of listed) read(root);
  const orphans = new Set<string>();
  for (const annotation of pageOf.keys()) {
    if (seen.has(annotation) || pdf.dict(annotation)?.['/Subtype'] !== '/Widget') continue;
    const root = rootOf(annotation, pdf);
    orphans.add(root);
    read(root);
  }
  const fields = [...found.values()];
  for (const field of fields) addStates(field, pdf);
  return { fields, roots: [...listed, ...orphans], entries, hasXfa: entries['/XFA'] !== undefined };
}

function listedFields(pdf: PdfObjects): string[] {
  const form = pdf.dict(pdf.catalog['/AcroForm']);
  const given = pdf.array(form?.['/Fields']);
  const fields = given.flatMap((field) => referenceTo(field, pdf));
  if (fields.some((field, index) => field !== given[index]))
    pdf.updateCatalog({ '/AcroForm': pdf.changed(pdf.catalog['/AcroForm'], { '/Fields': fields }) });
  return fields;
}

/** Returns the references in an array of an object. Makes objects of what the array holds itself. */
export function referencesOf(owner: string, entry: string, pdf: PdfObjects): string[] {
  const given = pdf.array(pdf.dict(owner)?.[entry]);
  const references = given.flatMap((each) => referenceTo(each, pdf));
  if (references.some((each, index) => each !== given[index])) pdf.update(owner, { [entry]: references });
  return references;
}

function referenceTo(value: PdfValue, pdf: PdfObjects): string[] {
  return isReference(value) ? [value] : isDict(value) ? [pdf.add(value)] : [];
}

function rootOf(widget: string, pdf: PdfObjects): string {
  let root = widget;
  for (let depth = 0; depth < maxDepth; depth++) {
    const parent = pdf.dict(root)?.['/Parent'];
    if (!isReference(parent) || !pdf.dict(parent)) break;
    root = parent;
  }
  return root;
}

function addWidget(found: Map<string, Field>, node: Node, page: number | undefined, pdf: PdfObjects): void {
  const { reference, name, entries, holder = reference } = node;
  const type = typeOf(entries, pdf);
  if (!type) return;
  const key = `${type} ${name}`;
  const field = found.get(key) ?? { name, type, entries, holders: [], widgets: [] };
  found.set(key, field);
  if (!field.holders.includes(holder)) field.holders.push(holder);
  if (page !== undefined || pdf.dict(reference)?.['/Subtype'] === '/Widget')
    field.widgets.push({ reference, page, state: '', value: '' });
}

function typeOf(entries: PdfDict, pdf: PdfObjects): FieldType | undefined {
  const bits = flagsOf(entries, pdf);
  switch (pdf.lookup(entries['/FT'])) {
    case '/Tx':
      return 'text';
    case '/Btn':
      return bits & flags.button ? 'button' : bits & flags.radio ? 'radio' : 'checkbox';
    case '/Ch':
      return bits & flags.combo ? 'choice' : 'list';
    case '/Sig':
      return 'signature';
    default:
      return undefined;
  }
}

function flagsOf(entries: PdfDict, pdf: PdfObjects): number {
  const value = pdf.lookup(entries['/Ff']);
  return typeof value === 'number' ? value : 0;
}

/** Returns whether a flag of a field is set. */
export function hasFlag({ entries }: Field, flag: keyof typeof flags, pdf: PdfObjects): boolean {
  return (flagsOf(entries, pdf) & flags[flag]) !== 0;
}

/** Finds what the widgets of a checkbox or of radio buttons are called when they are on. */
function addStates(field: Field, pdf: PdfObjects): void {
  if (field.type !== 'checkbox' && field.type !== 'radio') return;
  const exported = pdf.array(field.entries['/Opt']).map((each) => textOf(pdf.lookup(each)));
  for (const [index, widget] of field.widgets.entries()) {
    const dict = pdf.dict(widget.reference) ?? {};
    const { '/N': normal, '/D': down } = pdf.dict(dict['/AP']) ?? {};
    const names = [...statesOf(normal, pdf), ...statesOf(down, pdf), dict['/AS']];
    const name = names.find(
      (each): each is string => typeof each === 'string' && each.startsWith('/') && each !== '/Off',
    );
    widget.state = name?.slice(1) ?? (field.type === 'radio' && field.widgets.length > 1 ? String(index) : 'Yes');
    const byState = /^\d{1,6}$/.test(widget.state) ? exported[Number(widget.state)] : undefined;
    widget.value = byState ?? exported[index] ?? readable(widget.state);
  }
}

/** Decodes the names of states by LaTeX's hyperref, which are UTF-16 with the escapes of strings: `\\376\\377\\000S`. */
function readable(state: string): string {
  if (!/^\\376\\377(?:\\[0-7]{3}|[^\\])*$/.test(state)) return state;
  const text = state.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
  const bytes = Buffer.from(text, 'latin1').subarray(2);
  return bytes.length % 2 === 0 ? bytes.swap16().toString('utf16le') : state;
}

/** Returns the names of the appearances of a button. */
function statesOf(appearance: PdfValue | undefined, pdf: PdfObjects): string[] {
  const found = pdf.dict(appearance);
  // A dictionary of states holds streams; a stream is one appearance.
  return found && found['/BBox'] === undefined ? Object.keys(found) : [];
}

/** Returns the options that a field offers. */
export function optionsOf(field: Field, pdf: PdfObjects): Option[] {
  if (field.type === 'checkbox' || field.type === 'radio')
    return [...new Set(field.widgets.map(({ value }) => value))].map((value) => ({ value, label: value }));
  if (field.type !== 'choice' && field.type !== 'list') return [];
  return pdf.array(field.entries['/Opt']).flatMap((each) => {
    const pair = pdf.array(each).map((part) => textOf(pdf.lookup(part)));
    const [value = textOf(pdf.lookup(each)), label = value] = pair;
    return value === undefined ? [] : [{ value, label: label ?? value }];
  });
}

/** Returns the values of a field: none, one, or several of a list. */
export function valuesOf(field: Field, pdf: PdfObjects, entry: '/V' | '/DV' = '/V'): string[] {
  const stored = pdf.lookup(field.entries[entry]);
  if (field.type === 'checkbox' || field.type === 'radio') {
    const name = typeof stored === 'string' && stored.startsWith('/') ? stored.slice(1) : textOf(stored);
    const widget = field.widgets.find(({ state, value }) => state === name || value === name);
    return widget ? [widget.value] : [];
  }
  if (field.type === 'signature' || field.type === 'button') return [];
  const values = Array.isArray(stored) ? stored : [stored];
  return values.flatMap((each) => textOf(pdf.lookup(each)) ?? []);
}

function pick(dict: PdfDict, names: string[]): PdfDict {
  return Object.fromEntries(names.flatMap((name) => (dict[name] === undefined ? [] : [[name, dict[name]]])));
}
