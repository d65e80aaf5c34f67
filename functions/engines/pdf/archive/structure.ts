import type { PdfaFile } from './file.ts';
import { type Dict, Ref, type Value } from './lexer.ts';
import { NotApproved } from './problems.ts';

const words = (list: string) => new Set(list.split(' '));
/** Types of ISO 32000-1, 14.8.4. */
export const standardTypes = words(
  'Document Part Art Sect Div BlockQuote Caption TOC TOCI Index NonStruct Private P H H1 H2 H3 H4 H5 H6 L LI Lbl LBody Table TR TH TD THead TBody TFoot Span Quote Note Reference BibEntry Code Link Annot Ruby RB RT RP Warichu WT WP Figure Formula Form',
);
const maxElements = 500_000;
const maxDepth = 200;

export interface Element {
  dict: Dict;
  /** Its standard type. */
  type: string;
  parent: Element | undefined;
  kids: Element[];
  /** The pages of content that it has itself. */
  content: { page: Dict | undefined; id: number }[];
  /** The annotations that it has itself. */
  objects: Dict[];
  page: Dict | undefined;
}

/** Reads the structure of a document, with the elements in reading order. */
export function readStructure(file: PdfaFile, root: Dict, onProblem: (message: string) => void): Element[] {
  const roles = file.dict(root.get('RoleMap')) ?? new Map<string, Value>();
  for (const name of roles.keys())
    if (standardTypes.has(name)) onProblem('a standard type of tags is mapped to another');
  const standard = (name: string): string => {
    const seen = new Set<string>();
    for (
      let type: string | undefined = name;
      type !== undefined && !seen.has(type);
      type = file.name(roles.get(type))
    ) {
      if (standardTypes.has(type)) return type;
      seen.add(type);
    }
    onProblem(`the type of tags ${name.slice(0, 40)} is mapped to no standard type`);
    return 'NonStruct';
  };
  const elements: Element[] = [];
  const seen = new Set<Dict>();
  const read = (
    value: Value,
    parent: Element | undefined,
    parentDict: Dict,
    page: Dict | undefined,
    depth: number,
  ): void => {
    if (depth > maxDepth || elements.length > maxElements) throw new NotApproved('tags nested too deeply');
    const dict = file.get(value);
    if (typeof dict === 'number') {
      if (!parent) throw new NotApproved('content without a tag');
      parent.content.push({ page, id: dict });
      return;
    }
    if (!(dict instanceof Map)) throw new NotApproved('a tag that is missing');
    const type = file.name(dict.get('Type'));
    const own = file.dict(dict.get('Pg')) ?? page;
    if (type === 'MCR' || type === 'OBJR') {
      if (!parent) throw new NotApproved('content without a tag');
      const object = file.dict(dict.get('Obj'));
      const id = file.number(dict.get('MCID'));
      if (type === 'OBJR' && object) parent.objects.push(object);
      else if (type === 'MCR' && id !== undefined && !dict.has('Stm')) parent.content.push({ page: own, id });
      else throw new NotApproved('a tag of unknown content');
      return;
    }
    const name = file.name(dict.get('S'));
    if (name === undefined || seen.has(dict)) throw new NotApproved('a tag without a type, or in a loop');
    if (!(dict.get('P') instanceof Ref) || file.dict(dict.get('P')) !== parentDict)
      onProblem('a tag does not refer to its parent');
    seen.add(dict);
    const element: Element = { dict, type: standard(name), parent, kids: [], content: [], objects: [], page: own };
    elements.push(element);
    parent?.kids.push(element);
    for (const kid of listOf(file, dict.get('K'))) read(kid, element, dict, own, depth + 1);
  };
  for (const kid of listOf(file, root.get('K'))) read(kid, undefined, root, undefined, 0);
  return elements;
}

export function listOf(file: PdfaFile, value: Value | undefined): Value[] {
  const found = file.get(value);
  return Array.isArray(found) ? found : found === null ? [] : [value ?? null];
}

/** Returns the entries of a number tree. */
export function readNumbers(file: PdfaFile, root: Value | undefined): Map<number, Value> {
  const entries = new Map<number, Value>();
  const seen = new Set<Dict>();
  const pending: Value[] = [root ?? null];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const node = file.dict(next);
    if (!node || seen.has(node)) throw new NotApproved('a wrong tree of tags by page');
    seen.add(node);
    const list = file.array(node.get('Nums')) ?? [];
    for (let index = 0; index + 1 < list.length; index += 2) {
      const key = file.number(list[index]);
      if (key !== undefined) entries.set(key, file.get(list[index + 1]));
    }
    pending.push(...(file.array(node.get('Kids')) ?? []));
  }
  return entries;
}
