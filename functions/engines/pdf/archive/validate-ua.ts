import { PdfaFile } from './file.ts';
import { type Dict, Name, Stream, type Value } from './lexer.ts';
import { NotApproved, type Problem } from './problems.ts';
import { type Element, listOf, readNumbers, readStructure } from './structure.ts';
import { isLanguage, TaggedContent } from './tagged-content.ts';
import { pagesOf, type Verdict, validatePdfa } from './validate.ts';
import { decodeText, readXmp } from './xmp.ts';

/** Clauses of ISO 19005-2 that ISO 14289-1 has as well, each with its number there. */
const shared: [RegExp, string][] = [
  [/^6\.2\.11/, '7.21'],
  [/^6\.9$/, '7.10'],
  [/^6\.1$/, '6'],
];
const kidsOf: Record<string, string[]> = {
  Table: ['TR', 'THead', 'TBody', 'TFoot', 'Caption'],
  THead: ['TR'],
  TBody: ['TR'],
  TFoot: ['TR'],
  TR: ['TH', 'TD'],
  L: ['L', 'LI', 'Caption'],
  LI: ['Lbl', 'LBody'],
  TOC: ['TOC', 'TOCI', 'Caption'],
};
const parentsOf: Record<string, string[]> = {
  TR: ['Table', 'THead', 'TBody', 'TFoot'],
  THead: ['Table'],
  TBody: ['Table'],
  TFoot: ['Table'],
  TH: ['TR'],
  TD: ['TR'],
  LI: ['L'],
  LBody: ['LI'],
  TOCI: ['TOC'],
};
const maxCells = 1_000_000;

/**
 * Checks a PDF against what programs can check of PDF/UA-1. Approves only what is known to conform. Whether a text or an order
 * makes sense is for people to judge.
 */
export function validateUa(data: Buffer): Verdict {
  const found = new Map<string, { clause: string; message: string; places: Set<string> }>();
  const add = (clause: string, message: string, place: string) => {
    const key = `${clause} ${message}`;
    const known = found.get(key) ?? { clause, message, places: new Set() };
    if (place) known.places.add(place);
    found.set(key, known);
  };
  for (const { clause, message, where } of validatePdfa(data, '2u').problems) {
    const own = shared.find(([form]) => form.test(clause))?.[1];
    if (own) add(own, message, where);
  }
  try {
    new UaValidation(new PdfaFile(data, 2), add).run();
  } catch (error) {
    if (!(error instanceof NotApproved)) throw error;
    add('6', `not approved: ${error.message}`, 'file');
  }
  const problems: Problem[] = [...found.values()].map(({ clause, message, places }) => ({
    clause,
    message,
    where: [...places].slice(0, 10).join(', '),
  }));
  return { conforms: problems.length === 0, problems };
}

/** Types without a meaning: what they contain counts as content of what they are in. */
const transparent = ['NonStruct', 'Private'];

function kidsBelow({ kids }: Element): Element[] {
  return kids.flatMap((kid) => (transparent.includes(kid.type) ? kidsBelow(kid) : [kid]));
}

function parentAbove({ parent }: Element): Element | undefined {
  return parent && transparent.includes(parent.type) ? parentAbove(parent) : parent;
}

class UaValidation {
  readonly #file: PdfaFile;
  readonly #add: (clause: string, message: string, place: string) => void;
  readonly #numbers = new Map<Dict, number>();

  constructor(file: PdfaFile, add: (clause: string, message: string, place: string) => void) {
    this.#file = file;
    this.#add = add;
  }

  run(): void {
    const file = this.#file;
    const catalog = file.dict(file.trailer.get('Root')) ?? new Map<string, Value>();
    const pages = pagesOf(file, catalog);
    for (const [index, page] of pages.entries()) this.#numbers.set(page, index + 1);
    this.#checkCatalog(catalog);
    const root = file.dict(catalog.get('StructTreeRoot'));
    if (!root) {
      this.#add('7.1', 'the document is not tagged', '');
      return;
    }
    const elements = readStructure(file, root, (message) => this.#add('7.1', message, ''));
    this.#checkElements(elements);
    const parents = readNumbers(file, root.get('ParentTree'));
    const byDict = new Map(elements.map((element) => [element.dict, element]));
    for (const page of pages) this.#checkPage(page, elements, parents, byDict);
  }

  #place(page: Dict | undefined): string {
    const number = page && this.#numbers.get(page);
    return number === undefined ? '' : `page ${number}`;
  }

  #checkCatalog(catalog: Dict): void {
    const file = this.#file;
    const marks = file.dict(catalog.get('MarkInfo'));
    if (file.get(marks?.get('Marked') ?? null) !== true) this.#add('6.2', 'the document is not marked as tagged', '');
    if (marks?.has('Suspects') && file.get(marks.get('Suspects')) !== false)
      this.#add('7.1', 'the tags are marked as suspect', '');
    if (!isLanguage(file.text(catalog.get('Lang')))) this.#add('7.2', 'the language of the document is unknown', '');
    const preferences = file.dict(catalog.get('ViewerPreferences'));
    if (file.get(preferences?.get('DisplayDocTitle')) !== true) this.#add('7.1', 'the title is not displayed', '');
    const metadata = file.stream(catalog.get('Metadata'));
    const text = metadata && file.decode(metadata).toString('utf8');
    if (!text || !readXmp(text).isUniversal) this.#add('5', 'the metadata do not say that the document is PDF/UA', '');
    const title = file.text(file.dict(file.trailer.get('Info'))?.get('Title'));
    if (!title || decodeText(title).trim() === '') this.#add('7.1', 'the document has no title', '');
  }

  #text(value: Value | undefined): string {
    return decodeText(this.#file.text(value) ?? '').trim();
  }

  #checkElements(elements: Element[]): void {
    const file = this.#file;
    let level = 0;
    const notes = new Set<string>();
    const headings = new Set(elements.map(({ type }) => type).filter((type) => /^H\d?$/.test(type)));
    if (headings.has('H') && headings.size > 1) this.#add('7.4.4', 'headings are both with and without levels', '');
    for (const element of elements) {
      const { type, dict, page, objects } = element;
      const kids = kidsBelow(element);
      const parent = parentAbove(element);
      const place = this.#place(page ?? kids[0]?.page);
      const add = (clause: string, message: string) => this.#add(clause, message, place);
      if (dict.has('Lang') && !isLanguage(file.text(dict.get('Lang')))) add('7.2', 'the language of a text is unknown');
      const permitted = kidsOf[type];
      const above = parentsOf[type];
      if (permitted && kids.some((kid) => !permitted.includes(kid.type)))
        add('7.2', `a tag ${type} contains others than ${permitted.join(', ')}`);
      if (above && !above.includes(parent?.type ?? '')) add('7.2', `a tag ${type} is not in ${above.join(', ')}`);
      const captions = kids.filter((kid) => kid.type === 'Caption').length;
      if (['Table', 'L', 'TOC'].includes(type) && captions > (kids[0]?.type === 'Caption' ? 1 : 0))
        add('7.2', `a caption is not the first in a tag ${type}`);
      const heading = Number(/^H([1-6])$/.exec(type)?.[1] ?? 0);
      if (heading > 0) {
        if (heading > level + 1) add('7.4.2', `a heading of level ${heading} follows one of level ${level}`);
        level = heading;
      }
      if (kids.filter((kid) => kid.type === 'H').length > 1) add('7.4.4', 'a tag contains several headings');
      if (
        (type === 'Figure' || type === 'Formula') &&
        !this.#text(dict.get('Alt')) &&
        !file.text(dict.get('ActualText'))
      )
        add(
          type === 'Figure' ? '7.3' : '7.7',
          `a ${type === 'Figure' ? 'picture' : 'formula'} has no alternative text`,
        );
      if (type === 'Note') {
        const id = file.text(dict.get('ID')) ?? '';
        if (!id || notes.has(id)) add('7.9', 'a note has no identifier of its own');
        notes.add(id);
      }
      if (type === 'Form' && objects.length !== 1) add('7.18.4', 'a tag Form does not contain one field');
      if (type === 'Table') this.#checkTable(kids, add);
    }
  }

  /** Returns an attribute of a cell. */
  #attribute({ dict }: Element, name: string): Value {
    const file = this.#file;
    if (dict.has('C')) throw new NotApproved('a cell of a table with a class');
    for (const each of listOf(file, dict.get('A'))) {
      const attributes = file.dict(each);
      if (attributes?.has(name)) return file.get(attributes.get(name));
    }
    return null;
  }

  #checkTable(kids: Element[], add: (clause: string, message: string) => void): void {
    const count = (type: string) => kids.filter((kid) => kid.type === type).length;
    if (count('THead') > 1 || count('TFoot') > 1 || (count('THead') + count('TFoot') > 0 && count('TBody') === 0))
      add('7.2', 'a table has a wrong head, body or foot');
    const rows = kids
      .flatMap((kid) => (kid.type === 'TR' ? [kid] : kidsBelow(kid)))
      .filter(({ type }) => type === 'TR');
    const grid: (Element | undefined)[][] = rows.map(() => []);
    let isRegular = true;
    let cells = 0;
    for (const [y, row] of rows.entries()) {
      let x = 0;
      for (const cell of kidsBelow(row)) {
        while (grid[y]?.[x]) x += 1;
        const [height, width] = ['RowSpan', 'ColSpan'].map((name) => this.#attribute(cell, name) ?? 1);
        if (
          typeof height !== 'number' ||
          typeof width !== 'number' ||
          height < 1 ||
          width < 1 ||
          height > rows.length - y
        ) {
          add('7.2', 'a cell of a table spans too much');
          return;
        }
        cells += height * width;
        if (cells > maxCells) throw new NotApproved('a table of too many cells');
        for (let down = 0; down < height; down++)
          for (let right = 0; right < width; right++) {
            const line = grid[y + down];
            if (line?.[x + right]) isRegular = false;
            if (line) line[x + right] = cell;
          }
        x += width;
      }
    }
    const widths = new Set(grid.map((line) => line.length));
    if (!isRegular || widths.size > 1 || grid.some((line) => Array.from(line).includes(undefined))) {
      add('7.2', 'the rows of a table differ in their number of cells');
      return;
    }
    const heads = (cell: Element | undefined, scope: string) => {
      if (cell?.type !== 'TH') return false;
      const own = this.#attribute(cell, 'Scope');
      return own instanceof Name && (own.text === scope || own.text === 'Both');
    };
    for (const [y, line] of grid.entries())
      for (const [x, cell] of line.entries()) {
        if (cell?.type !== 'TD') continue;
        const isHeaded =
          line.slice(0, x).some((each) => heads(each, 'Row')) ||
          grid.slice(0, y).some((above) => heads(above[x], 'Column'));
        if (!isHeaded) {
          add('7.5', 'a cell of a table has no heading');
          return;
        }
      }
  }

  #checkPage(page: Dict, elements: Element[], parents: Map<number, Value>, byDict: Map<Dict, Element>): void {
    const file = this.#file;
    const place = this.#place(page);
    const key = file.number(page.get('StructParents'));
    const list = key === undefined ? undefined : parents.get(key);
    const owned = this.#contentOf(page, elements);
    const isTagged = (id: number) => {
      const element = Array.isArray(list) ? file.dict(list[id]) : undefined;
      return element !== undefined && owned.get(id)?.dict === element;
    };
    const content = new TaggedContent(file, { add: (clause, message) => this.#add(clause, message, place) });
    const data = listOf(file, page.get('Contents')).flatMap((part) => {
      const stream = file.stream(part);
      if (!(stream instanceof Stream)) throw new NotApproved('the content of a page is no stream');
      return [file.decode(stream), Buffer.from('\n')];
    });
    content.check(Buffer.concat(data), file.dict(page.get('Resources')), isTagged);
    const annotations = file.array(page.get('Annots')) ?? [];
    if (annotations.length > 0 && file.name(page.get('Tabs')) !== 'S')
      this.#add('7.18.3', 'the order of tabs is not that of the tags', place);
    for (const each of annotations) {
      const annotation = file.dict(each);
      if (annotation) this.#checkAnnotation(annotation, parents, byDict, place);
    }
  }

  readonly #contents = new Map<Dict, Map<number, Element>>();

  /** Returns the elements of the marks of a page. */
  #contentOf(page: Dict, elements: Element[]): Map<number, Element> {
    if (this.#contents.size === 0)
      for (const element of elements)
        for (const { page: on, id } of element.content) {
          if (!on) throw new NotApproved('tagged content on no page');
          const known = this.#contents.get(on) ?? new Map<number, Element>();
          known.set(id, element);
          this.#contents.set(on, known);
        }
    return this.#contents.get(page) ?? new Map();
  }

  #checkAnnotation(annotation: Dict, parents: Map<number, Value>, byDict: Map<Dict, Element>, place: string): void {
    const file = this.#file;
    if (((file.number(annotation.get('F')) ?? 0) & 2) !== 0) return;
    const subtype = file.name(annotation.get('Subtype'));
    const key = file.number(annotation.get('StructParent'));
    const parent = key === undefined ? undefined : file.dict(parents.get(key));
    const element = parent && byDict.get(parent);
    const expected = subtype === 'Link' ? 'Link' : subtype === 'Widget' ? 'Form' : 'Annot';
    const clause = subtype === 'Link' ? '7.18.5' : subtype === 'Widget' ? '7.18.4' : '7.18.1';
    const kind = subtype === 'Link' ? 'link' : subtype === 'Widget' ? 'form field' : 'annotation';
    if (element?.type !== expected || !element.objects.includes(annotation))
      this.#add(clause, `a ${kind} is not tagged`, place);
    let label = this.#text(annotation.get('Contents'));
    if (subtype === 'Widget')
      for (let field: Dict | undefined = annotation, depth = 0; field && depth < 50 && !label; depth++) {
        label = this.#text(field.get('TU'));
        field = file.dict(field.get('Parent'));
      }
    if (!label) this.#add(clause, `a ${kind} has no description`, place);
  }
}
