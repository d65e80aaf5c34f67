import { isReference, type PdfDict, type PdfObjects, type PdfValue } from '../objects.ts';
import { maxNodes, removeSignatures } from '../signatures.ts';
import { Targets, treeEntries } from './targets.ts';

/** Deeper bookmarks and tags are left out. */
const maxDepth = 200;

/**
 * Keeps some pages of a PDF, and of the rest of the document what belongs to them: bookmarks, links, named destinations,
 * form fields, page labels and tags. What refers to other pages is removed, so that nothing of them stays in the file.
 * Returns warnings about what is lost.
 */
export function keepPages(pdf: PdfObjects, kept: string[], { isPart = false } = {}): string[] {
  const warnings = removeSignatures(pdf);
  const all = pdf.pages;
  const pages = new Set(kept);
  const labels = isPart
    ? labelsOf(
        pdf,
        kept.map((page) => all.indexOf(page)),
      )
    : undefined;
  if (labels) pdf.updateCatalog({ '/PageLabels': labels });
  for (const page of all) if (!pages.has(page)) pdf.set(page, null);
  pdf.update(pdf.catalog['/Pages'], { '/Kids': kept, '/Count': kept.length });

  const targets = new Targets(pdf, pages);
  if (removeLinks(pdf, kept, targets)) warnings.push('Links to pages that are left out were removed.');
  keepBookmarks(pdf, targets);
  targets.keepNames();
  if (targets.isDead(pdf.catalog['/OpenAction'])) pdf.updateCatalog({ '/OpenAction': undefined });
  keepFields(pdf, kept, warnings);
  keepTags(pdf, pages);
  // Articles run over pages.
  if (pdf.catalog['/Threads'] !== undefined) {
    pdf.updateCatalog({ '/Threads': undefined });
    for (const page of kept) pdf.update(page, { '/B': undefined });
  }
  if (isPart) dropAttachments(pdf, warnings);
  return warnings;
}

/** Removes the links of pages that lead to pages that are left out. Returns whether there were any. */
function removeLinks(pdf: PdfObjects, pages: string[], targets: Targets): boolean {
  let isRemoved = false;
  for (const page of pages) {
    const annotations = pdf.array(pdf.dict(page)?.['/Annots']);
    const kept = annotations.filter((annotation) => {
      const { '/Subtype': subtype, '/Dest': destination, '/A': action } = pdf.dict(annotation) ?? {};
      return subtype !== '/Link' || !targets.isDead(destination ?? action);
    });
    if (kept.length === annotations.length) continue;
    isRemoved = true;
    pdf.update(page, { '/Annots': kept.length > 0 ? kept : undefined });
  }
  return isRemoved;
}

interface Bookmark {
  item: string;
  isOpen: boolean;
  isDead: boolean;
  kids: Bookmark[];
}

/** Keeps bookmarks that lead to kept pages or elsewhere, and those above them. */
function keepBookmarks(pdf: PdfObjects, targets: Targets): void {
  const { '/Outlines': root } = pdf.catalog;
  if (!isReference(root) || !pdf.dict(root)) return;
  const seen = new Set<string>();
  const read = (first: PdfValue | undefined, depth: number): Bookmark[] => {
    const found: Bookmark[] = [];
    for (let item = first; isReference(item) && !seen.has(item) && seen.size < maxNodes; ) {
      seen.add(item);
      const dict: PdfDict = pdf.dict(item) ?? {};
      const kids = depth < maxDepth ? read(dict['/First'], depth + 1) : [];
      const target = dict['/Dest'] ?? dict['/A'];
      const isDead = target !== undefined && targets.isDead(target);
      const isEmptied = target === undefined && dict['/First'] !== undefined;
      const count = pdf.lookup(dict['/Count']);
      const isOpen = typeof count === 'number' && count > 0;
      if (kids.length > 0 || !(isDead || isEmptied)) found.push({ item, isOpen, isDead, kids });
      item = dict['/Next'];
    }
    return found;
  };
  const top = read(pdf.dict(root)?.['/First'], 1);
  if (top.length === 0) {
    pdf.updateCatalog({ '/Outlines': undefined });
    return;
  }
  const write = (parent: string, bookmarks: Bookmark[]): number => {
    let visible = 0;
    for (const [index, { item, isOpen, isDead, kids }] of bookmarks.entries()) {
      const below = write(item, kids);
      visible += 1 + (isOpen ? below : 0);
      pdf.update(item, {
        '/Parent': parent,
        '/Prev': bookmarks[index - 1]?.item,
        '/Next': bookmarks[index + 1]?.item,
        '/Count': below === 0 ? undefined : isOpen ? below : -below,
        ...(isDead ? { '/Dest': undefined, '/A': undefined } : {}),
      });
    }
    pdf.update(parent, { '/First': bookmarks[0]?.item, '/Last': bookmarks.at(-1)?.item });
    return visible;
  };
  const visible = write(root, top);
  pdf.update(root, { '/Count': visible });
}

/** Keeps the form fields that are on kept pages. */
function keepFields(pdf: PdfObjects, pages: string[], warnings: string[]): void {
  const form = pdf.dict(pdf.catalog['/AcroForm']);
  if (!form) return;
  const shown = new Set(pages.flatMap((page) => pdf.array(pdf.dict(page)?.['/Annots'])));
  const seen = new Set<string>();
  const removed = new Set<PdfValue>();
  const keep = (field: PdfValue, depth: number): boolean => {
    if (!isReference(field) || seen.has(field) || seen.size >= maxNodes || depth > maxDepth) return false;
    seen.add(field);
    const kids = pdf.array(pdf.dict(field)?.['/Kids']);
    const kept = kids.filter((kid) => keep(kid, depth + 1));
    if (kept.length > 0 && kept.length < kids.length) pdf.update(field, { '/Kids': kept });
    const isKept = kids.length === 0 ? shown.has(field) : kept.length > 0;
    if (!isKept) removed.add(field);
    return isKept;
  };
  const fields = pdf.array(form['/Fields']).filter((field) => keep(field, 1));
  const order = pdf.array(form['/CO']).filter((field) => isReference(field) && seen.has(field) && !removed.has(field));
  if (form['/XFA'] !== undefined)
    warnings.push('The XFA form was removed, because it holds all pages. The fields are kept as they are displayed.');
  const changed = pdf.changed(pdf.catalog['/AcroForm'], {
    '/Fields': fields,
    '/XFA': undefined,
    '/CO': order.length > 0 ? order : undefined,
  });
  pdf.updateCatalog({ '/AcroForm': fields.length > 0 ? changed : undefined });
}

/** Returns the labels of pages, given by their index in the document. */
function labelsOf(pdf: PdfObjects, indexes: number[]): PdfValue | undefined {
  const entries = treeEntries(pdf, pdf.catalog['/PageLabels'], '/Nums');
  if (entries.length === 0) return undefined;
  const nums: PdfValue[] = [];
  let expected = '';
  for (const [position, index] of indexes.entries()) {
    const [start, value] = entries.findLast(([number]) => typeof number === 'number' && number <= index) ?? [0, null];
    const label = pdf.dict(value) ?? {};
    const first = pdf.lookup(label['/St']);
    const number = (typeof first === 'number' ? first : 1) + index - Number(start);
    if (expected !== `${start} ${number}`) nums.push(position, without(label, number));
    expected = `${start} ${number + 1}`;
  }
  return { '/Nums': nums };
}

function without(label: PdfDict, number: number): PdfDict {
  return label['/S'] === undefined ? label : { ...label, '/St': number };
}

function isDefined(value: PdfValue | undefined): value is PdfValue {
  return value !== undefined;
}

/** Keeps the tags of content on kept pages. */
function keepTags(pdf: PdfObjects, pages: Set<string>): void {
  const { '/StructTreeRoot': root } = pdf.catalog;
  const tree = pdf.dict(root);
  if (!tree || !isReference(root)) return;
  const seen = new Set<PdfValue>();
  const removed = new Set<PdfValue>();
  const isLeftOut = (page: PdfValue | undefined) => page !== undefined && !(isReference(page) && pages.has(page));
  const keep = (value: PdfValue, above: PdfValue | undefined, depth: number): PdfValue | undefined => {
    if (typeof value === 'number') return isLeftOut(above) ? undefined : value;
    const element = pdf.dict(value);
    const key = isReference(value) ? value : element;
    if (!element || key === undefined || seen.has(key) || seen.size > maxNodes || depth > maxDepth) return undefined;
    const page = element['/Pg'] ?? above;
    if (element['/Type'] === '/MCR' || element['/Type'] === '/OBJR') return isLeftOut(page) ? undefined : value;
    seen.add(key);
    const content = pdf.lookup(element['/K']);
    const kids = Array.isArray(content) ? content : element['/K'] === undefined ? [] : [element['/K']];
    const kept = kids.map((kid) => keep(kid, page, depth + 1)).filter(isDefined);
    if (kids.length === 0 ? isLeftOut(page) : kept.length === 0) {
      removed.add(key);
      return undefined;
    }
    if (kept.length === kids.length && kept.every((kid, index) => kid === kids[index])) {
      // The page of an element may be left out although some of its content is not.
      return isLeftOut(element['/Pg']) ? pdf.changed(value, { '/Pg': undefined }) : value;
    }
    return pdf.changed(value, { '/K': kept, ...(isLeftOut(element['/Pg']) ? { '/Pg': undefined } : {}) });
  };
  const content = pdf.lookup(tree['/K']);
  const tops = Array.isArray(content) ? content : tree['/K'] === undefined ? [] : [tree['/K']];
  const kept = tops.map((top) => keep(top, undefined, 1)).filter(isDefined);
  const isKept = (value: PdfValue) => isReference(value) && seen.has(value) && !removed.has(value);
  const parents = treeEntries(pdf, tree['/ParentTree'], '/Nums').flatMap(([number, value]): PdfValue[] => {
    if (isKept(value)) return [number, value];
    const elements = pdf.array(value).map((element) => (isKept(element) ? element : null));
    return elements.some((element) => element !== null) ? [number, elements] : [];
  });
  const ids = treeEntries(pdf, tree['/IDTree'], '/Names').flatMap(([name, value]) =>
    isKept(value) ? [name, value] : [],
  );
  pdf.update(root, {
    '/K': kept,
    '/ParentTree': pdf.add({ '/Nums': parents }),
    '/IDTree': ids.length > 0 ? pdf.add({ '/Names': ids }) : undefined,
  });
}

/** Removes the attachments of a document, which belong to none of its parts. */
function dropAttachments(pdf: PdfObjects, warnings: string[]): void {
  const files = pdf.dict(pdf.catalog['/Names'])?.['/EmbeddedFiles'];
  if (treeEntries(pdf, files, '/Names').length === 0 && pdf.catalog['/AF'] === undefined) return;
  pdf.updateCatalog({
    '/AF': undefined,
    '/Collection': undefined,
    '/Names': pdf.changed(pdf.catalog['/Names'], { '/EmbeddedFiles': undefined }),
  });
  warnings.push('The attached files are in none of the parts. Extract the pages instead to keep them.');
}
