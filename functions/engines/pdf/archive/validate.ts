import { ColorCheck } from './color.ts';
import { ContentCheck } from './content.ts';
import { PdfaFile } from './file.ts';
import { FontCheck } from './fonts.ts';
import { type Dict, Name, Stream, type Value } from './lexer.ts';
import { type Level, NotApproved, type Problem, Problems } from './problems.ts';
import { decodeText, type Information, isoDate, readXmp, xmpOf } from './xmp.ts';

export interface Verdict {
  conforms: boolean;
  problems: Problem[];
}

const words = (list: string) => new Set(list.split(' '));

export const catalogKeys = words(
  'Type Version Pages PageLabels Names Dests ViewerPreferences PageLayout PageMode Outlines OpenAction AcroForm Metadata StructTreeRoot MarkInfo Lang OutputIntents OCProperties AF',
);
export const pageKeys = words(
  'Type Parent Resources MediaBox CropBox BleedBox TrimBox ArtBox Rotate Group Contents Annots StructParents Tabs UserUnit LastModified Trans Dur B ID',
);
export const annotationTypes = words(
  'Text Link FreeText Line Square Circle Highlight Underline Squiggly StrikeOut Stamp Ink Popup Widget',
);
export const laterAnnotationTypes = words('Polygon PolyLine Caret Redact FileAttachment');
export const actionTypes = words('GoTo GoToR Thread URI Named SubmitForm');
const relationships = words('Source Data Alternative Supplement Unspecified');
const filters = words(
  'ASCIIHexDecode ASCII85Decode FlateDecode RunLengthDecode CCITTFaxDecode JBIG2Decode DCTDecode JPXDecode',
);
/** Keys that have no place in a file for archiving, wherever they are. */
const bannedKeys = words(
  'AA Alternates OPI JS EFF PresSteps Requirements AlternatePresentations NeedsRendering XFA Perms Encrypt',
);
const informationKeys = ['Title', 'Author', 'Subject', 'Keywords', 'Creator', 'Producer'] as const;
const maxPages = 50_000;

/**
 * Checks a PDF against a level of PDF/A. Approves only what is known to conform: anything unknown is a problem, although the
 * standard may permit it.
 */
export function validatePdfa(data: Buffer, level: Level): Verdict {
  const problems = new Problems(Number(level[0]));
  problems.within('file', () => new Validation(new PdfaFile(data, problems.part), problems, level).run());
  return { conforms: problems.list.length === 0, problems: problems.list };
}

class Validation {
  readonly #file: PdfaFile;
  readonly #problems: Problems;
  readonly #level: Level;
  readonly #catalog: Dict;
  readonly #content: ContentCheck;
  readonly #color: ColorCheck;
  /** File specifications with an embedded file, and the lists of files that belong to a part of the document. */
  readonly #embedding: Dict[] = [];
  readonly #associations: Value[] = [];

  constructor(file: PdfaFile, problems: Problems, level: Level) {
    this.#file = file;
    this.#problems = problems;
    this.#level = level;
    const catalog = file.dict(file.trailer.get('Root'));
    if (!catalog) throw new NotApproved('there is no catalog');
    this.#catalog = catalog;
    this.#color = new ColorCheck(file, problems, catalog.get('OutputIntents'));
    this.#content = new ContentCheck(file, problems, this.#color);
  }

  #add(first: string, later: string, message: string): void {
    this.#problems.add(first, later, message);
  }

  run(): void {
    const file = this.#file;
    this.#checkTrailer();
    for (const [id, value] of file.objects) this.#problems.within(`object ${id}`, () => this.#sweep(value));
    this.#checkCatalog();
    this.#problems.within('metadata', () => this.#checkMetadata());
    for (const [index, page] of pagesOf(file, this.#catalog).entries())
      this.#problems.within(`page ${index + 1}`, () => this.#checkPage(page));
    this.#problems.within('form', () => this.#checkForm());
    this.#problems.within('bookmarks', () => this.#checkBookmarks());
    this.#problems.within('layers', () => this.#checkLayers());
    this.#problems.within('attachments', () => this.#checkAttachments());
    const fonts = new FontCheck(file, this.#problems, this.#level);
    for (const use of this.#content.fonts.values()) fonts.check(use);
    this.#color.finish();
  }

  #checkTrailer(): void {
    const { trailer } = this.#file;
    const ids = this.#file.array(trailer.get('ID'));
    if (ids?.length !== 2 || ids.some((id) => !this.#file.text(id)))
      this.#add('6.1.3', '6.1.3', 'there is no file identifier');
    for (const key of trailer.keys())
      if (!['Info', 'Root', 'Size', 'ID'].includes(key)) this.#add('6.1.3', '6.1.3', `the trailer has the key ${key}`);
    if (trailer.get('Size') !== this.#file.objects.size + 1)
      this.#add('6.1.4', '6.1.4', 'the size in the trailer is wrong');
  }

  /** Checks what holds for all values, wherever they are. */
  #sweep(root: Value): void {
    const pending: Value[] = [root];
    for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
      if (value instanceof Name) this.#checkName(value.text);
      else if (Array.isArray(value)) for (const each of value) pending.push(each);
      else if (value instanceof Map) this.#sweepDict(value, pending);
      else if (value instanceof Stream) {
        this.#sweepDict(value.dict, pending);
        this.#checkStream(value);
      }
    }
  }

  #checkName(name: string): void {
    if (this.#problems.part === 1 || !/[\x80-\xff]/.test(name)) return;
    const bytes = Buffer.from(name, 'latin1');
    if (Buffer.compare(Buffer.from(bytes.toString('utf8')), bytes) !== 0)
      this.#add('', '6.1.8', 'a name is not in UTF-8');
  }

  #sweepDict(dict: Dict, pending: Value[]): void {
    const file = this.#file;
    for (const [key, value] of dict) {
      this.#checkName(key);
      if (bannedKeys.has(key)) this.#add('6.6', '6.5', `the key ${key} is used`);
      if (key === 'Metadata' && dict !== this.#catalog && file.stream(value))
        this.#add('6.7.2', '6.6.2', 'a part of the document has metadata of its own');
      if (key === 'EF' && this.#level !== '3b') this.#add('6.1.11', '6.8', 'a file is embedded');
      if (key === 'EF') this.#embedding.push(dict);
      if (key === 'AF') this.#associations.push(value);
      if (key === 'Linearized') this.#add('6.1.3', '6.1.3', 'the file is linearized');
      pending.push(value);
    }
    if (file.name(dict.get('Type')) === 'Action') this.#checkAction(dict);
    const group = this.#problems.part === 1 ? file.dict(dict.get('Group')) : undefined;
    if (file.name(group?.get('S')) === 'Transparency') this.#add('6.4', '6.2.10', 'a transparency group is used');
  }

  #checkStream({ dict }: Stream): void {
    for (const key of ['F', 'FFilter', 'FDecodeParms'])
      if (dict.has(key)) this.#add('6.1.7', '6.1.7.1', 'the data of a stream are in another file');
    for (const filter of this.#file.filters(dict))
      if (!filters.has(filter) || (filter === 'JPXDecode' && this.#problems.part === 1))
        this.#add('6.1.10', '6.1.7.2', `a stream has the filter ${filter}`);
  }

  #checkCatalog(): void {
    const file = this.#file;
    for (const key of this.#catalog.keys())
      if (!catalogKeys.has(key)) this.#add('6.1', '6.1', `the catalog has the key ${key}`);
    const names = file.dict(this.#catalog.get('Names'));
    for (const key of names?.keys() ?? [])
      if (key !== 'Dests' && !(key === 'EmbeddedFiles' && this.#level === '3b'))
        this.#add('6.1.11', '6.10', `the name dictionary has the key ${key}`);
    this.#checkActions(this.#catalog.get('OpenAction'));
  }

  #checkPage(page: Dict): void {
    const file = this.#file;
    for (const key of page.keys()) if (!pageKeys.has(key)) this.#add('6.1', '6.10', `a page has the key ${key}`);
    for (const key of ['MediaBox', 'CropBox', 'BleedBox', 'TrimBox', 'ArtBox']) {
      if (!page.has(key) && key !== 'MediaBox') continue;
      const box = file.array(page.get(key))?.map((each) => file.number(each)) ?? [];
      const [left = Number.NaN, bottom = Number.NaN, right = Number.NaN, top = Number.NaN] = box;
      const sides = [Math.abs(right - left), Math.abs(top - bottom)];
      if (box.length !== 4 || !sides.every((side) => side >= 3 && side <= 14_400))
        this.#add('6.1.12', '6.1.13', 'a page is smaller than 3 or larger than 14,400 units');
    }
    this.#content.checkGroup(page);
    const contents = file.get(page.get('Contents'));
    const parts = Array.isArray(contents) ? contents : contents === null ? [] : [contents];
    const data = parts.map((part) => {
      const stream = file.stream(part);
      if (!stream) throw new NotApproved('the content of a page is no stream');
      return file.decode(stream);
    });
    const spaced = data.flatMap((part) => [part, Buffer.from('\n')]);
    this.#content.check(Buffer.concat(spaced), file.dict(page.get('Resources')));
    for (const annotation of file.array(page.get('Annots')) ?? []) {
      const dict = file.dict(annotation);
      if (!dict) throw new NotApproved('an annotation is missing');
      this.#checkAnnotation(dict);
    }
  }

  #checkAnnotation(dict: Dict): void {
    const file = this.#file;
    const isFirst = this.#problems.part === 1;
    const subtype = file.name(dict.get('Subtype')) ?? '';
    const isFile = subtype === 'FileAttachment' && this.#level !== '3b';
    if (!annotationTypes.has(subtype) && (isFirst || isFile || !laterAnnotationTypes.has(subtype)))
      this.#add('6.5.2', '6.3.1', `an annotation has the type ${subtype}`);
    const flags = file.number(dict.get('F'));
    if (flags === undefined || (flags & 4) !== 4 || (flags & (1 | 2 | 32 | 256)) !== 0)
      this.#add('6.5.3', '6.3.2', 'an annotation is hidden or not printed');
    if (isFirst && dict.has('CA') && file.number(dict.get('CA')) !== 1)
      this.#add('6.5.3', '6.2.10', 'an annotation is transparent');
    this.#checkActions(dict.get('A'));
    if (subtype === 'Widget' && dict.has('A')) this.#add('6.6.1', '6.4.1', 'a form field has an action');
    const appearances = file.dict(dict.get('AP'));
    if (!appearances) {
      const [x0, y0, x1, y1] = (file.array(dict.get('Rect')) ?? []).map((each) => file.number(each));
      const isEmpty = x0 === x1 && y0 === y1 && x0 !== undefined;
      if (isFirst ? subtype === 'Widget' : subtype !== 'Popup' && subtype !== 'Link' && !isEmpty)
        this.#add('6.9', '6.3.3', 'an annotation has no appearance');
      return;
    }
    const normal = file.get(appearances.get('N'));
    const field = fieldType(file, dict);
    const isButton = subtype === 'Widget' && field === 'Btn';
    const states = normal instanceof Map ? [...normal.values()] : [normal];
    if (appearances.size !== 1 || isButton !== normal instanceof Map || states.length === 0)
      this.#add('6.5.3', '6.3.3', 'an annotation has another appearance than the normal one');
    for (const state of states) {
      const stream = file.stream(state);
      if (!stream) throw new NotApproved('an appearance that is no stream');
      this.#content.checkForm(stream);
    }
  }

  #checkActions(value: Value | undefined): void {
    const action = this.#file.dict(value);
    // An array is a destination.
    if (action?.has('S')) this.#checkAction(action);
  }

  #checkAction(first: Dict): void {
    const file = this.#file;
    const seen = new Set<Dict>();
    const pending: Dict[] = [first];
    for (let action = pending.pop(); action; action = pending.pop()) {
      if (seen.has(action)) continue;
      seen.add(action);
      const type = file.name(action.get('S')) ?? '';
      if (!actionTypes.has(type)) this.#add('6.6.1', '6.5.1', `an action has the type ${type}`);
      if (type === 'Named' && !/^(?:Next|Prev|First|Last)Page$/.test(file.name(action.get('N')) ?? ''))
        this.#add('6.6.1', '6.5.1', 'a named action is not permitted');
      const next = file.get(action.get('Next'));
      for (const each of Array.isArray(next) ? next : [next]) {
        const dict = file.dict(each);
        if (dict) pending.push(dict);
      }
    }
  }

  #checkForm(): void {
    const file = this.#file;
    const form = file.dict(this.#catalog.get('AcroForm'));
    if (!form) return;
    if (form.has('NeedAppearances') && file.get(form.get('NeedAppearances')) !== false)
      this.#add('6.9', '6.4.1', 'the appearances of the form are left to the reader');
    const seen = new Set<Dict>();
    const pending = [...(file.array(form.get('Fields')) ?? [])];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const field = file.dict(next);
      if (!field || seen.has(field)) throw new NotApproved('a wrong tree of form fields');
      seen.add(field);
      if (file.name(field.get('FT')) === 'Sig' && file.get(field.get('V')) !== null)
        this.#add('6.9', '6.4.3', 'a signature is not validated');
      if (file.name(field.get('Subtype')) === 'Widget') this.#checkAnnotation(field);
      pending.push(...(file.array(field.get('Kids')) ?? []));
    }
  }

  #checkBookmarks(): void {
    const file = this.#file;
    const seen = new Set<Dict>();
    const pending = [file.dict(this.#catalog.get('Outlines'))];
    for (let item = pending.pop(); item; item = pending.pop()) {
      if (seen.has(item)) throw new NotApproved('a loop in the bookmarks');
      seen.add(item);
      this.#checkActions(item.get('A'));
      for (const key of ['Next', 'First']) {
        const next = file.dict(item.get(key));
        if (next) pending.push(next);
      }
    }
  }

  #checkLayers(): void {
    const file = this.#file;
    if (!this.#catalog.has('OCProperties')) return;
    if (this.#problems.part === 1) this.#add('6.1.13', '6.9', 'there are layers');
    const properties = file.dict(this.#catalog.get('OCProperties'));
    const groups = (file.array(properties?.get('OCGs')) ?? []).map((each) => file.dict(each));
    if (properties?.has('Configs')) throw new NotApproved('several configurations of layers');
    const config = file.dict(properties?.get('D'));
    const name = config?.get('Name');
    if (!config || !file.text(name)) this.#add('', '6.9', 'the configuration of layers has no name');
    if (config?.has('AS')) this.#add('', '6.9', 'layers are shown by usage');
    if (!config?.has('Order')) return;
    const listed = new Set<Dict>();
    const pending: { value: Value; depth: number }[] = [{ value: config.get('Order') ?? null, depth: 0 }];
    for (let next = pending.pop(); next; next = pending.pop()) {
      const found = file.get(next.value);
      if (next.depth > 50) throw new NotApproved('layers nested too deeply');
      if (found instanceof Map) listed.add(found);
      else if (Array.isArray(found)) for (const value of found) pending.push({ value, depth: next.depth + 1 });
    }
    if (groups.some((group) => !group || !listed.has(group)))
      this.#add('', '6.9', 'a layer is not in the list of layers');
  }

  #checkAttachments(): void {
    const file = this.#file;
    const associated = new Set<Value>();
    for (const list of this.#associations) for (const each of file.array(list) ?? []) associated.add(file.get(each));
    for (const spec of this.#embedding) {
      if (!['F', 'UF'].every((key) => file.text(spec.get(key)))) this.#add('', '6.8', 'an embedded file has no name');
      if (!relationships.has(file.name(spec.get('AFRelationship')) ?? ''))
        this.#add('', '6.8', 'the relationship of an embedded file is missing');
      if (!associated.has(spec)) this.#add('', '6.8', 'an embedded file is associated with nothing');
      for (const each of file.dict(spec.get('EF'))?.values() ?? []) {
        const type = file.name(file.stream(each)?.dict.get('Subtype')) ?? '';
        if (!/^[-\w+.]+\/[-\w+.]+$/.test(type)) this.#add('', '6.8', 'the media type of an embedded file is missing');
      }
    }
  }

  #checkMetadata(): void {
    const file = this.#file;
    const stream = file.stream(this.#catalog.get('Metadata'));
    if (!stream) {
      this.#add('6.7.2', '6.6.2.1', 'there are no metadata');
      return;
    }
    if (file.name(stream.dict.get('Type')) !== 'Metadata' || file.name(stream.dict.get('Subtype')) !== 'XML')
      this.#add('6.7.2', '6.6.2.1', 'the metadata have another type');
    if (stream.dict.has('Filter')) this.#add('6.7.2', '6.6.2.1', 'the metadata are compressed');
    const text = stream.raw.toString('utf8');
    if (text !== xmpOf({ ...readXmp(text), level: this.#level, information: this.#information() }))
      this.#add('6.7', '6.6', 'the metadata are not known to conform');
  }

  #information(): Information {
    const file = this.#file;
    const info = file.dict(file.trailer.get('Info')) ?? new Map();
    const result: Information = {};
    for (const key of informationKeys) {
      const value = info.has(key) ? file.text(info.get(key)) : undefined;
      if (value !== undefined) result[key] = decodeText(value);
      else if (info.has(key)) this.#add('6.7.3', '6.6.2', `the information ${key} is no text`);
    }
    for (const key of ['CreationDate', 'ModDate'] as const) {
      if (!info.has(key)) continue;
      const text = file.text(info.get(key)) ?? '';
      const date = /^D:\d{14}(?:Z|[+-]\d\d'\d\d')$/.test(text) ? isoDate(text) : undefined;
      if (date === undefined) this.#add('6.7.3', '6.6.2', `the information ${key} is no date`);
      else result[key] = date;
    }
    return result;
  }
}

/** Returns the pages in order. They inherit no resources. */
export function pagesOf(file: PdfaFile, catalog: Dict): Dict[] {
  const pages: Dict[] = [];
  const seen = new Set<Dict>();
  const pending: Value[] = [catalog.get('Pages') ?? null];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const node = file.dict(next);
    if (!node || seen.has(node) || seen.size > maxPages) throw new NotApproved('a wrong page tree');
    seen.add(node);
    const type = file.name(node.get('Type'));
    if (type === 'Page') pages.push(node);
    else if (type === 'Pages' && !node.has('Resources'))
      pending.push(...(file.array(node.get('Kids')) ?? []).toReversed());
    else throw new NotApproved('a wrong page tree');
  }
  if (pages.length === 0) throw new NotApproved('there are no pages');
  return pages;
}

/** Returns the type of the form field of a widget, which it may inherit. */
function fieldType(file: PdfaFile, widget: Dict): string | undefined {
  let field: Dict | undefined = widget;
  for (let depth = 0; field && depth < 50; depth++) {
    const type: string | undefined = file.name(field.get('FT'));
    if (type !== undefined) return type;
    field = file.dict(field.get('Parent'));
  }
  return undefined;
}
