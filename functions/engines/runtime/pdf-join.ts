import {
  PDFArray,
  PDFBool,
  type PDFContext,
  PDFDict,
  type PDFDocument,
  PDFHexString,
  PDFName,
  PDFNull,
  PDFNumber,
  type PDFObject,
  PDFPage,
  PDFPageLeaf,
  PDFPageTree,
  PDFRef,
  PDFStream,
  PDFString,
} from '@cantoo/pdf-lib';

const key = (name: string) => PDFName.of(name);
type Text = PDFString | PDFHexString | PDFName;

/** More than any real document has. The references of a damaged or hostile one may be circular. */
const maxNodes = 200_000;
const maxDepth = 50;

/** Name trees of a document whose entries are kept. */
const nameTrees = ['Dests', 'EmbeddedFiles', 'JavaScript'] as const;
type NameTree = (typeof nameTrees)[number];

interface Bookmark {
  entries: [name: string, value: PDFObject][];
  kids: Bookmark[];
}

/**
 * Copies objects from one PDF into another with everything they refer to. Unlike the copier of the library, it copies each
 * page once, and long chains of references do not exhaust the stack.
 */
export class PdfCopier {
  readonly #from: PDFContext;
  readonly #to: PDFContext;
  readonly #adapt: (dict: PDFDict) => void;
  readonly #known = new Map<PDFRef, PDFObject>();
  readonly #pending: [from: PDFRef, to: PDFRef][] = [];

  /** Passes each dictionary to `adapt` after it is copied. The objects it refers to may not be copied yet. */
  constructor(from: PDFContext, to: PDFContext, adapt: (dict: PDFDict) => void = () => {}) {
    this.#from = from;
    this.#to = to;
    this.#adapt = adapt;
  }

  /** Redirects all references to an object to an existing one. */
  map(from: PDFRef, to: PDFObject): void {
    this.#known.set(from, to);
  }

  copy(object: PDFObject): PDFObject {
    const copied = this.#clone(object);
    for (let next = this.#pending.pop(); next; next = this.#pending.pop()) {
      const value = this.#from.lookup(next[0]);
      this.#to.assign(next[1], value && !(value instanceof PDFPageTree) ? this.#clone(value) : PDFNull);
    }
    return copied;
  }

  /** Copies a page, with the attributes that it inherits in the page tree. */
  copyPage(page: PDFPageLeaf, to: PDFRef): PDFPageLeaf {
    for (const name of PDFPageLeaf.InheritableEntries) {
      const value = page.getInheritableAttribute(key(name));
      if (value && !page.get(key(name))) page.set(key(name), value);
    }
    const copied = this.copy(page);
    if (!(copied instanceof PDFPageLeaf)) throw new Error('A page was copied as something else.');
    this.#to.assign(to, copied);
    return copied;
  }

  #clone(object: PDFObject): PDFObject {
    if (object instanceof PDFRef) {
      const known = this.#known.get(object);
      if (known) return known;
      const ref = this.#to.nextRef();
      this.#known.set(object, ref);
      this.#pending.push([object, ref]);
      return ref;
    }
    if (object instanceof PDFDict) return this.#filled(object.clone(this.#to));
    if (object instanceof PDFStream) {
      const copied = object.clone(this.#to);
      this.#filled(copied.dict);
      return copied;
    }
    if (object instanceof PDFArray) {
      const copied = object.clone(this.#to);
      for (let index = 0; index < copied.size(); index++) copied.set(index, this.#clone(copied.get(index)));
      return copied;
    }
    return object;
  }

  #filled(dict: PDFDict): PDFDict {
    // Through its parent, a page that only a link refers to would bring along all other pages.
    if (dict instanceof PDFPageLeaf) dict.delete(key('Parent'));
    for (const [name, value] of dict.entries()) dict.set(name, this.#clone(value));
    this.#adapt(dict);
    return dict;
  }
}

/**
 * Appends whole documents to a PDF: their pages, bookmarks, form fields, named destinations, attachments, layers, tags and page
 * labels. Each input gets a bookmark, with the input's own bookmarks below it.
 */
export class PdfJoin {
  readonly #pdf: PDFDocument;
  readonly #names = { Dests: new Map(), EmbeddedFiles: new Map(), JavaScript: new Map() } satisfies Record<
    NameTree,
    Map<string, PDFObject>
  >;
  readonly #bookmarks: Bookmark[] = [];
  readonly #labels: [page: number, label: PDFObject][] = [];
  readonly #fields = new Set<string>();
  readonly #warnings: string[] = [];
  #hasLabels = false;
  #hasInformation = false;
  #isTagged = true;
  #nextParent = 0;

  constructor(pdf: PDFDocument) {
    this.#pdf = pdf;
  }

  /** Adds a bookmark to a page, counted from 0, for an input that is not a PDF. */
  bookmark(title: string, page: number): void {
    this.#isTagged = false;
    this.#addBookmark(title, page, []);
    this.#label(page);
  }

  /** Appends a document. The source must not be used afterwards. */
  append(source: PDFDocument, name: string, title: string): void {
    const first = this.#pdf.getPageCount();
    const renamed = Object.fromEntries(
      nameTrees.map((tree) => [tree, newNames(entriesOf(source, tree).keys(), this.#names[tree].keys())]),
    );
    const fonts = newNames(fontsOf(source), fontsOf(this.#pdf));
    const offset = this.#nextParent;
    const hasTags = isTagged(source);
    if (!hasTags) this.#isTagged = false;
    const dests = renamed.Dests ?? new Map();
    const copier = new PdfCopier(source.context, this.#pdf.context, (dict) => {
      adaptDestination(dict, dests);
      adaptFonts(dict, fonts);
      for (const parent of [key('StructParents'), key('StructParent')]) {
        const value = dict.get(parent);
        if (!hasTags) dict.delete(parent);
        else if (value instanceof PDFNumber) dict.set(parent, PDFNumber.of(value.asNumber() + offset));
      }
    });
    this.#addPages(source, copier);
    this.#addTags(source, copier);
    for (const tree of nameTrees)
      for (const [from, value] of entriesOf(source, tree))
        this.#names[tree].set(renamed[tree]?.get(from) ?? from, copier.copy(value));
    this.#addForm(source, copier, fonts, name);
    this.#addLayers(source, copier);
    this.#addInformation(source, copier);
    this.#addBookmark(title, first, readBookmarks(source, copier, dests));
    this.#addLabels(source, copier, first);
  }

  /** Writes bookmarks, names, fields and tags. Returns warnings about what could not be kept. */
  finish(): string[] {
    const { catalog, context } = this.#pdf;
    const trees = nameTrees.flatMap((tree): [string, PDFObject][] => {
      const sorted = [...this.#names[tree]].sort(([one], [other]) => (one < other ? -1 : 1));
      if (sorted.length === 0) return [];
      return [
        [tree, context.register(context.obj({ Names: sorted.flatMap(([name, value]) => [bytesOf(name), value]) }))],
      ];
    });
    if (trees.length > 0) catalog.set(key('Names'), context.register(context.obj(Object.fromEntries(trees))));
    if (this.#hasLabels) catalog.set(key('PageLabels'), context.obj({ Nums: this.#labels.flat() }));
    // In a tagged document, readers treat untagged content as decoration.
    if (this.#isTagged && catalog.has(key('StructTreeRoot')))
      catalog.set(key('MarkInfo'), context.obj({ Marked: true }));
    const root = context.nextRef();
    const { first, last, count } = this.#writeBookmarks(this.#bookmarks, root);
    if (first && last) {
      context.assign(root, context.obj({ Type: 'Outlines', First: first, Last: last, Count: count }));
      catalog.set(key('Outlines'), root);
    }
    return this.#warnings;
  }

  #addPages(source: PDFDocument, copier: PdfCopier): void {
    const { context } = this.#pdf;
    const pages = source.getPages().map(({ node, ref }) => ({ node, ref, to: context.nextRef() }));
    // Registered before anything is copied, so that links lead to the pages in the tree.
    for (const { ref, to } of pages.toReversed()) copier.map(ref, to);
    for (const { node, to } of pages) {
      this.#pdf.addPage(PDFPage.of(copier.copyPage(node, to), to, this.#pdf));
    }
  }

  #addForm(source: PDFDocument, copier: PdfCopier, fonts: Map<string, string>, name: string): void {
    const from = dictOf(source.catalog, 'AcroForm');
    if (!from) return;
    const { catalog, context } = this.#pdf;
    const form = dictOf(catalog, 'AcroForm') ?? context.obj({});
    catalog.set(key('AcroForm'), form);
    const renamed = new Set<string>();
    const names = new Set<string>();
    const added: PDFObject[] = [];
    for (const field of arrayOf(from, 'Fields')) {
      const ref = copier.copy(field);
      listIn(form, 'Fields').push(ref);
      added.push(ref);
      const dict = context.lookup(ref);
      if (!(dict instanceof PDFDict)) continue;
      const title = textOf(dict.lookup(key('T')));
      if (title !== undefined) {
        const unique = this.#fields.has(title) ? free(title, this.#fields) : title;
        if (unique !== title) renamed.add(title);
        if (unique !== title) dict.set(key('T'), PDFHexString.fromText(unique));
        names.add(unique);
      }
      // Defaults of this form do not apply in the joined form, so each field gets its own.
      for (const entry of ['DA', 'Q']) {
        const value = from.lookup(key(entry));
        if (value && !dict.has(key(entry))) dict.set(key(entry), copier.copy(value));
      }
      adaptFonts(dict, fonts);
    }
    for (const each of names) this.#fields.add(each);
    for (const field of arrayOf(from, 'CO')) listIn(form, 'CO').push(copier.copy(field));
    if (from.lookup(key('NeedAppearances')) === PDFBool.True) form.set(key('NeedAppearances'), PDFBool.True);
    this.#addResources(from, form, copier, fonts);
    if (removeSignatures(added, context))
      this.#warnings.push(
        `A merged file is not what was signed, so the signature of ${quote(name)} was removed. Its appearance is kept.`,
      );
    if (renamed.size > 0)
      this.#warnings.push(
        `Fields of ${quote(name)} have the names of other fields and were renamed, so that each keeps its own value: ${[...renamed].slice(0, 10).map(quote).join(', ')}.`,
      );
  }

  #addResources(from: PDFDict, form: PDFDict, copier: PdfCopier, fonts: Map<string, string>): void {
    for (const [kind, value] of dictOf(from, 'DR')?.entries() ?? []) {
      const own = from.context.lookup(value);
      if (!(own instanceof PDFDict)) continue;
      const resources = dictIn(dictIn(form, 'DR'), kind.decodeText());
      for (const [name, resource] of own.entries()) {
        const to = kind === key('Font') ? key(fonts.get(name.decodeText()) ?? name.decodeText()) : name;
        if (!resources.has(to)) resources.set(to, copier.copy(resource));
      }
    }
  }

  /** Adds the layers: without them, hidden content would be visible. */
  #addLayers(source: PDFDocument, copier: PdfCopier): void {
    const from = dictOf(source.catalog, 'OCProperties');
    const usual = from && dictOf(from, 'D');
    if (!from || !usual) return;
    const layers = dictIn(this.#pdf.catalog, 'OCProperties');
    const shown = dictIn(layers, 'D');
    const all = arrayOf(from, 'OCGs');
    for (const group of all) listIn(layers, 'OCGs').push(copier.copy(group));
    const isOff = usual.lookup(key('BaseState')) === key('OFF');
    const on = new Set(arrayOf(usual, 'ON'));
    if (isOff) for (const group of all.filter((each) => !on.has(each))) listIn(shown, 'OFF').push(copier.copy(group));
    for (const list of ['ON', 'OFF', 'Order', 'Locked', 'RBGroups', 'AS'])
      for (const each of arrayOf(usual, list)) listIn(shown, list).push(copier.copy(each));
  }

  /** Adds the tags that screen readers use. Pages refer to them by numbers, which follow those of the documents before. */
  #addTags(source: PDFDocument, copier: PdfCopier): void {
    const at = source.catalog.get(key('StructTreeRoot'));
    const from = dictOf(source.catalog, 'StructTreeRoot');
    if (!from) return;
    const { catalog, context } = this.#pdf;
    const known = catalog.get(key('StructTreeRoot'));
    const root = known instanceof PDFRef ? known : context.register(context.obj({ Type: 'StructTreeRoot' }));
    const tree = context.lookup(root, PDFDict);
    catalog.set(key('StructTreeRoot'), root);
    if (at instanceof PDFRef) copier.map(at, root);
    const kids = from.lookup(key('K'));
    const tops = kids instanceof PDFArray ? kids.asArray() : [from.get(key('K'))];
    for (const top of tops) if (top) listIn(tree, 'K').push(copier.copy(top));
    const parents = dictIn(tree, 'ParentTree');
    const offset = this.#nextParent;
    for (const [number, value] of walkTree(dictOf(from, 'ParentTree'), 'Nums')) {
      if (!(number instanceof PDFNumber)) continue;
      const list = listIn(parents, 'Nums');
      list.push(PDFNumber.of(number.asNumber() + offset));
      list.push(copier.copy(value));
      this.#nextParent = Math.max(this.#nextParent, offset + number.asNumber() + 1);
    }
    tree.set(key('ParentTreeNextKey'), PDFNumber.of(this.#nextParent));
    for (const each of arrayOf(from, 'Namespaces')) listIn(tree, 'Namespaces').push(copier.copy(each));
    for (const map of ['RoleMap', 'ClassMap'])
      for (const [role, value] of dictOf(from, map)?.entries() ?? []) {
        const roles = dictIn(tree, map);
        if (!roles.has(role)) roles.set(role, copier.copy(value));
      }
  }

  /** Takes the document information and the language of the first document. */
  #addInformation(source: PDFDocument, copier: PdfCopier): void {
    if (this.#hasInformation) return;
    this.#hasInformation = true;
    const { catalog, context } = this.#pdf;
    const language = source.catalog.lookup(key('Lang'));
    if (language) catalog.set(key('Lang'), copier.copy(language));
    const from = source.context.lookup(source.context.trailerInfo.Info);
    const to = context.lookup(context.trailerInfo.Info);
    if (!(from instanceof PDFDict) || !(to instanceof PDFDict)) return;
    to.delete(key('Creator'));
    const written = [key('Producer'), key('ModDate'), key('Trapped')];
    for (const [name, value] of from.entries()) if (!written.includes(name)) to.set(name, copier.copy(value));
  }

  #addBookmark(title: string, page: number, kids: Bookmark[]): void {
    const ref = this.#pdf.getPages()[page]?.ref;
    if (!ref) return;
    const dest = this.#pdf.context.obj([ref, 'XYZ', null, null, null]);
    this.#bookmarks.push({
      entries: [
        ['Title', PDFHexString.fromText(title)],
        ['Dest', dest],
      ],
      kids,
    });
  }

  #writeBookmarks(items: Bookmark[], parent: PDFRef): { first?: PDFRef; last?: PDFRef; count: number } {
    const { context } = this.#pdf;
    const refs = items.map(() => context.nextRef());
    for (const [index, { entries, kids }] of items.entries()) {
      const ref = refs[index];
      if (!ref) continue;
      const below = this.#writeBookmarks(kids, ref);
      const [previous, next] = [refs[index - 1], refs[index + 1]];
      const dict = context.obj({
        Parent: parent,
        ...(previous ? { Prev: previous } : {}),
        ...(next ? { Next: next } : {}),
        // A negative count means that the bookmark is closed.
        ...(below.first && below.last ? { First: below.first, Last: below.last, Count: -below.count } : {}),
      });
      for (const [name, value] of entries) dict.set(key(name), value);
      context.assign(ref, dict);
    }
    const [first] = refs;
    const last = refs.at(-1);
    return { ...(first && last ? { first, last } : {}), count: items.length };
  }

  #addLabels(source: PDFDocument, copier: PdfCopier, first: number): void {
    const labels = walkTree(dictOf(source.catalog, 'PageLabels'), 'Nums');
    if (labels.length === 0) {
      this.#label(first);
      return;
    }
    this.#hasLabels = true;
    for (const [page, label] of labels)
      if (page instanceof PDFNumber) this.#labels.push([first + page.asNumber(), copier.copy(label)]);
  }

  /** Numbers the pages of an input without labels by position, as viewers do. */
  #label(first: number): void {
    this.#labels.push([first, this.#pdf.context.obj({ S: 'D', St: first + 1 })]);
  }
}

/** Returns whether a document has bookmarks, names or form fields. */
export function hasStructure({ catalog }: PDFDocument): boolean {
  const names = dictOf(catalog, 'Names');
  const form = dictOf(catalog, 'AcroForm');
  return (
    (form !== undefined && arrayOf(form, 'Fields').length > 0) ||
    dictOf(catalog, 'Outlines')?.has(key('First')) === true ||
    (names !== undefined && nameTrees.some((tree) => names.has(key(tree)))) ||
    catalog.has(key('Dests'))
  );
}

/** Returns whether a document has tags, which screen readers use. */
export function isTagged({ catalog }: PDFDocument): boolean {
  return dictOf(catalog, 'StructTreeRoot') !== undefined;
}

/**
 * Replaces the content of the pages with that of other pages, which look the same but are upright with a corner at the origin.
 * Annotations, form fields, bookmarks and names of the document stay.
 */
export function replacePages(pdf: PDFDocument, others: PDFDocument): void {
  const copier = new PdfCopier(others.context, pdf.context);
  const { context } = pdf;
  const made = others.getPages();
  for (const [index, page] of pdf.getPages().entries()) {
    const other = made[index]?.node;
    if (!other) throw new Error(`Page ${index + 1} is missing.`);
    const before = context.register(context.flateStream(`q ${uprightMatrix(page).join(' ')} cm\n`));
    const after = context.register(context.flateStream('\nQ'));
    const contents = other.get(key('Contents'));
    const parts =
      contents && others.context.lookup(contents) instanceof PDFArray ? arrayOf(other, 'Contents') : [contents];
    const copied = parts.flatMap((part) => (part ? [copier.copy(part)] : []));
    page.node.set(key('Contents'), context.obj([before, ...copied, after]));
    page.node.set(key('Resources'), copier.copy(other.Resources() ?? others.context.obj({})));
    // Inherited resources would keep the old images in the file.
    for (let node = page.node.Parent(), depth = 0; node && depth < maxDepth; node = node.Parent(), depth++)
      node.delete(key('Resources'));
    const group = other.get(key('Group'));
    if (group) page.node.set(key('Group'), copier.copy(group));
    else page.node.delete(key('Group'));
    for (const entry of ['StructParents', 'PieceInfo', 'Thumb']) page.node.delete(key(entry));
  }
  // The new content lacks the marks that tags refer to.
  for (const entry of ['StructTreeRoot', 'MarkInfo']) pdf.catalog.delete(key(entry));
}

/** Returns the matrix from a page as displayed, with a corner at the origin, to its stored coordinates. */
function uprightMatrix(page: PDFPage): number[] {
  const { x, y, width, height } = page.getMediaBox();
  switch (((page.getRotation().angle % 360) + 360) % 360) {
    case 90:
      return [0, 1, -1, 0, x + width, y];
    case 180:
      return [-1, 0, 0, -1, x + width, y + height];
    case 270:
      return [0, -1, 1, 0, x, y + height];
    default:
      return [1, 0, 0, 1, x, y];
  }
}

function quote(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 97)}…` : name);
}

/** Returns a name that is not taken. */
function free(name: string, taken: Set<string>): string {
  for (let number = 1; ; number++) if (!taken.has(`${name}+${number}`)) return `${name}+${number}`;
}

/** Returns new names for those of a document that are already taken. */
function newNames(own: Iterable<string>, taken: Iterable<string>): Map<string, string> {
  const [ours, theirs] = [[...own], new Set(taken)];
  const all = new Set([...ours, ...theirs]);
  return new Map(ours.filter((name) => theirs.has(name)).map((name) => [name, free(name, all)]));
}

function dictOf(dict: PDFDict, name: string): PDFDict | undefined {
  const value = dict.lookup(key(name));
  return value instanceof PDFDict ? value : undefined;
}

function arrayOf(dict: PDFDict, name: string): PDFObject[] {
  const value = dict.lookup(key(name));
  return value instanceof PDFArray ? value.asArray() : [];
}

/** Returns a dictionary in another one. Creates it if it is missing. */
function dictIn(dict: PDFDict, name: string): PDFDict {
  const known = dictOf(dict, name);
  if (known) return known;
  const made = dict.context.obj({});
  dict.set(key(name), made);
  return made;
}

function listIn(dict: PDFDict, name: string): PDFArray {
  const known = dict.lookup(key(name));
  if (known instanceof PDFArray) return known;
  const made = dict.context.obj([]);
  dict.set(key(name), made);
  return made;
}

/** Returns the names of the fonts of fields. */
function fontsOf({ catalog }: PDFDocument): string[] {
  const form = dictOf(catalog, 'AcroForm');
  const resources = form && dictOf(form, 'DR');
  const fonts = resources && dictOf(resources, 'Font');
  return fonts?.keys().map((name) => name.decodeText()) ?? [];
}

function textOf(value: PDFObject | undefined): string | undefined {
  return value instanceof PDFString || value instanceof PDFHexString ? value.decodeText() : undefined;
}

/** Removes the values of signature fields in a tree of fields. Returns whether there were any. */
function removeSignatures(fields: PDFObject[], context: PDFContext): boolean {
  let isSigned = false;
  const seen = new Set<PDFDict>();
  const pending = [...fields];
  for (let next = pending.pop(); next && seen.size < maxNodes; next = pending.pop()) {
    const field = context.lookup(next);
    if (!(field instanceof PDFDict) || seen.has(field)) continue;
    seen.add(field);
    pending.push(...arrayOf(field, 'Kids'));
    if (field.lookup(key('FT')) === key('Sig') && field.delete(key('V'))) isSigned = true;
  }
  return isSigned;
}

/** Returns the bytes of a name as Latin-1 text. */
function nameOf(value: Text): string {
  return Buffer.from(value.asBytes()).toString('latin1');
}

function bytesOf(name: string): PDFHexString {
  return PDFHexString.of(Buffer.from(name, 'latin1').toString('hex'));
}

function isText(value: PDFObject | undefined): value is Text {
  return value instanceof PDFString || value instanceof PDFHexString || value instanceof PDFName;
}

/** Reads the entries of a name or number tree, in their order. */
function walkTree(root: PDFDict | undefined, leaf: 'Names' | 'Nums'): [PDFObject, PDFObject][] {
  const entries: [PDFObject, PDFObject][] = [];
  const seen = new Set<PDFDict>();
  const pending: PDFObject[] = root ? [root] : [];
  for (let next = pending.pop(); next && seen.size < maxNodes; next = pending.pop()) {
    const node = root?.context.lookup(next);
    if (!(node instanceof PDFDict) || seen.has(node)) continue;
    seen.add(node);
    const values = arrayOf(node, leaf);
    for (let index = 0; index + 1 < values.length; index += 2) {
      const [name, value] = [node.context.lookup(values[index]), values[index + 1]];
      if (name && value) entries.push([name, value]);
    }
    pending.push(...arrayOf(node, 'Kids').toReversed());
  }
  return entries;
}

/** Returns the entries of a name tree. Destinations may also be in a dictionary, as before PDF 1.2. */
function entriesOf({ catalog }: PDFDocument, tree: NameTree): Map<string, PDFObject> {
  const names = dictOf(catalog, 'Names');
  const entries = new Map<string, PDFObject>();
  if (tree === 'Dests')
    for (const [name, value] of dictOf(catalog, 'Dests')?.entries() ?? []) entries.set(nameOf(name), value);
  for (const [name, value] of walkTree(names && dictOf(names, tree), 'Names'))
    if (isText(name)) entries.set(nameOf(name), value);
  return entries;
}

/** Renames the destinations in links and actions. */
function adaptDestination(dict: PDFDict, renamed: Map<string, string>): void {
  const isAction = dict.get(key('S')) === key('GoTo');
  if (!isAction && dict.get(key('Subtype')) !== key('Link')) return;
  const entry = key(isAction ? 'D' : 'Dest');
  const value = dict.get(entry);
  if (isText(value)) dict.set(entry, bytesOf(renamed.get(nameOf(value)) ?? nameOf(value)));
}

/** Renames the fonts in the appearances of fields. */
function adaptFonts(dict: PDFDict, renamed: Map<string, string>): void {
  const appearance = textOf(dict.get(key('DA')));
  if (appearance === undefined || renamed.size === 0) return;
  const adapted = appearance.replace(/\/(\S+)(?=\s+-?[\d.]+\s+Tf)/g, (all, font) =>
    renamed.has(font) ? `/${renamed.get(font)}` : all,
  );
  dict.set(key('DA'), PDFString.of(adapted));
}

/** Reads the bookmarks of a document. */
function readBookmarks(source: PDFDocument, copier: PdfCopier, renamed: Map<string, string>): Bookmark[] {
  const top: Bookmark[] = [];
  const seen = new Set<PDFDict>();
  const root = dictOf(source.catalog, 'Outlines');
  const pending: { item: PDFDict | undefined; into: Bookmark[]; depth: number }[] = [
    { item: root && dictOf(root, 'First'), into: top, depth: 1 },
  ];
  for (let next = pending.pop(); next && seen.size < maxNodes; next = pending.pop()) {
    const { item, into, depth } = next;
    if (!item || seen.has(item)) continue;
    seen.add(item);
    const entries = ['Title', 'Dest', 'A', 'C', 'F'].flatMap((name): [string, PDFObject][] => {
      const value = item.lookup(key(name));
      if (!value) return [];
      return [
        [
          name,
          name === 'Dest' && isText(value) ? bytesOf(renamed.get(nameOf(value)) ?? nameOf(value)) : copier.copy(value),
        ],
      ];
    });
    const bookmark: Bookmark = { entries, kids: [] };
    into.push(bookmark);
    pending.push({ item: dictOf(item, 'Next'), into, depth });
    if (depth < maxDepth) pending.push({ item: dictOf(item, 'First'), into: bookmark.kids, depth: depth + 1 });
  }
  return top;
}
