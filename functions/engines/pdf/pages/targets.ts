import { isDict, isReference, type PdfDict, type PdfObjects, type PdfValue } from '../objects.ts';
import { maxNodes } from '../signatures.ts';

/** Finds the pages that bookmarks, links and actions lead to. */
export class Targets {
  readonly #pdf: PdfObjects;
  readonly #pages: Set<string>;
  /** Destinations by name, as in the dictionary of old files and in the tree of new ones. */
  readonly #named: Map<string, PdfValue>;

  /** `pages` are those that are kept. */
  constructor(pdf: PdfObjects, pages: Iterable<string>) {
    this.#pdf = pdf;
    this.#pages = new Set(pages);
    const names = pdf.dict(pdf.catalog['/Names']);
    this.#named = new Map([
      ...Object.entries(pdf.dict(pdf.catalog['/Dests']) ?? {}).map(([name, value]) => [name, value ?? null] as const),
      ...treeEntries(pdf, names?.['/Dests'], '/Names').map(([name, value]) => [String(name), value] as const),
    ]);
  }

  /** Returns the page of a destination or action; null for one that was removed, and undefined if it leads elsewhere. */
  pageOf(target: PdfValue | undefined): PdfValue | undefined {
    const found = this.#pdf.lookup(target);
    if (isDict(found) && found['/S'] !== undefined)
      return found['/S'] === '/GoTo' ? this.#pageOfDestination(found['/D']) : undefined;
    return this.#pageOfDestination(found);
  }

  #pageOfDestination(target: PdfValue | undefined): PdfValue | undefined {
    const value = this.#pdf.lookup(target);
    const found = this.#pdf.lookup(typeof value === 'string' ? this.#named.get(value) : value);
    const [page] = this.#pdf.array(isDict(found) ? found['/D'] : found);
    return page === undefined || page === null || isReference(page) ? page : undefined;
  }

  /** Returns whether a destination or action leads to a page that is left out. One that leads elsewhere is not dead. */
  isDead(target: PdfValue | undefined): boolean {
    const page = this.pageOf(target);
    return page === null || (page !== undefined && !(isReference(page) && this.#pages.has(page)));
  }

  /** Removes the names of destinations on pages that are left out. */
  keepNames(): void {
    const pdf = this.#pdf;
    const old = pdf.dict(pdf.catalog['/Dests']);
    if (old) {
      const entries = Object.entries(old).filter(([, value]) => !this.isDead(value));
      pdf.updateCatalog({ '/Dests': Object.fromEntries(entries) });
    }
    const names = pdf.dict(pdf.catalog['/Names']);
    if (names?.['/Dests'] === undefined) return;
    const entries = treeEntries(pdf, names['/Dests'], '/Names').filter(([, value]) => !this.isDead(value));
    const tree = entries.length > 0 ? pdf.add({ '/Names': entries.flat() }) : undefined;
    pdf.updateCatalog({ '/Names': pdf.changed(pdf.catalog['/Names'], { '/Dests': tree }) });
  }
}

/** Returns the entries of a name or number tree in their order. */
export function treeEntries(
  pdf: PdfObjects,
  root: PdfValue | undefined,
  leaf: '/Names' | '/Nums',
): [PdfValue, PdfValue][] {
  const entries: [PdfValue, PdfValue][] = [];
  const seen = new Set<PdfDict>();
  const pending: PdfValue[] = [root ?? null];
  for (let next = pending.pop(); next !== undefined && seen.size < maxNodes; next = pending.pop()) {
    const node = pdf.dict(next);
    if (!node || seen.has(node)) continue;
    seen.add(node);
    const values = pdf.array(node[leaf]);
    for (let index = 0; index + 1 < values.length; index += 2)
      entries.push([pdf.lookup(values[index]), values[index + 1] ?? null]);
    for (const kid of pdf.array(node['/Kids']).toReversed()) pending.push(kid);
  }
  return entries;
}
