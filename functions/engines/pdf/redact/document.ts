import { isDict, isReference, type PdfDict, type PdfObjects, type PdfValue, textOf } from '../objects.ts';
import { treeEntries } from '../pages/targets.ts';
import { maxNodes } from '../signatures.ts';
import type { Finder } from './find.ts';

const maxDepth = 200;

/** Programs, previews and private data of applications. None of them can be searched. */
const removedKeys = ['/PieceInfo', '/Thumb', '/AA', '/XFA', '/SpiderInfo', '/DSS', '/Legal', '/LastModified'];
/** Strings that are no text. */
const skippedKeys = new Set([
  '/Registry',
  '/Ordering',
  '/CharSet',
  '/ID',
  '/CreationDate',
  '/ModDate',
  '/Lang',
  '/M',
  '/CheckSum',
  '/DA',
]);

export interface Rules {
  finder: Finder | undefined;
  removeAttachments: boolean;
  removeMetadata: boolean;
  /** Marked content of pages from which something was removed, as `page mcid`. */
  marks: Set<string>;
}

/**
 * Removes matches from everything but the contents of pages: titles of bookmarks, values of fields, metadata, names of
 * destinations, alternative texts and whatever else has strings. Returns how many strings were changed.
 */
export function cleanDocument(pdf: PdfObjects, rules: Rules): { changed: number; warnings: string[] } {
  const warnings: string[] = [];
  const { catalog } = pdf;
  const names = pdf.dict(catalog['/Names']) ?? {};
  if (pdf.dict(catalog['/AcroForm'])?.['/XFA'] !== undefined)
    warnings.push('The XFA form was removed. The fields are kept as they are displayed.');
  const files = treeEntries(pdf, names['/EmbeddedFiles'], '/Names');
  const removedNames = ['/JavaScript', '/IDS', '/URLS', '/AlternatePresentations', '/Renditions'];
  if (rules.removeAttachments) removedNames.push('/EmbeddedFiles');
  if (rules.removeAttachments && files.length > 0) {
    const titles = files.map(([key, value]) => {
      const file = pdf.dict(value) ?? {};
      const title = textOf(pdf.lookup(file['/UF'])) ?? textOf(pdf.lookup(file['/F'])) ?? textOf(key) ?? '';
      return rules.finder?.without(title) ?? title;
    });
    warnings.push(`Attached files were removed: ${titles.slice(0, 20).join(', ')}${titles.length > 20 ? ', …' : ''}`);
  } else if (files.length > 0) {
    warnings.push('The attached files were kept as they are. They were not searched.');
  }
  if (catalog['/Names'] !== undefined)
    pdf.updateCatalog({
      '/Names': pdf.changed(catalog['/Names'], Object.fromEntries(removedNames.map((key) => [key, undefined]))),
    });
  if (rules.removeAttachments) pdf.updateCatalog({ '/Collection': undefined, '/AF': undefined });
  if (rules.removeMetadata) {
    for (const key of Object.keys(pdf.dict(pdf.trailer['/Info']) ?? {}))
      pdf.update(pdf.trailer['/Info'], { [key]: undefined });
  }
  cleanTags(pdf, rules.marks);
  const cleaner = new Cleaner(pdf, rules);
  for (const reference of pdf.reachable()) cleaner.clean(reference);
  return { changed: cleaner.changed, warnings };
}

class Cleaner {
  readonly #pdf: PdfObjects;
  readonly #rules: Rules;
  /** The destinations of old files. Their names are keys. */
  readonly #destinations: PdfDict | undefined;
  changed = 0;

  constructor(pdf: PdfObjects, rules: Rules) {
    this.#pdf = pdf;
    this.#destinations = pdf.dict(pdf.catalog['/Dests']);
    this.#rules = rules;
  }

  clean(reference: string): void {
    const value = this.#pdf.lookup(reference);
    const cleaned = this.#value(value, '', 0);
    if (cleaned !== value) this.#pdf.set(reference, cleaned ?? null);
  }

  /** Returns the same value if nothing is to be removed. */
  #value(value: PdfValue, key: string, depth: number): PdfValue | undefined {
    if (depth > maxDepth) return null;
    if (typeof value === 'string') return this.#string(value, key);
    if (Array.isArray(value)) {
      const cleaned = value.map((each) => this.#value(each, key, depth + 1) ?? null);
      return cleaned.some((each, index) => each !== value[index]) ? cleaned : value;
    }
    return isDict(value) ? this.#dict(value, depth) : value;
  }

  #dict(dict: PdfDict, depth: number): PdfDict | null {
    if (dict['/S'] === '/JavaScript' || dict['/S'] === '/Launch') return null;
    const entries = Object.entries(dict).flatMap(([key, value = null]): [string, PdfValue][] => {
      if (removedKeys.includes(key) || this.#isRemoved(key, value)) return [];
      const cleaned = this.#value(value, key, depth + 1);
      const name = dict === this.#destinations ? this.#name(key) : key;
      return cleaned === undefined ? [] : [[name, cleaned]];
    });
    const isSame =
      entries.length === Object.keys(dict).length &&
      entries.every(([key, value]) => key in dict && dict[key] === value);
    return isSame ? dict : Object.fromEntries(entries);
  }

  #name(key: string): string {
    const cleaned = this.#rules.finder?.without(key.slice(1));
    if (cleaned === undefined) return key;
    this.changed++;
    return `/${cleaned || 'removed'}`;
  }

  #isRemoved(key: string, value: PdfValue): boolean {
    const { finder, removeAttachments, removeMetadata } = this.#rules;
    if (removeAttachments && (key === '/EF' || key === '/AF' || key === '/RF')) return true;
    const isText = key === '/Metadata' || key === '/RC' || key === '/RV';
    if (!isText) return false;
    if (key === '/Metadata' && removeMetadata) return true;
    const text =
      isReference(value) && this.#pdf.isStream(value)
        ? this.#pdf.stream(value).toString('utf8')
        : textOf(this.#pdf.lookup(value));
    if (text === undefined || !finder) return false;
    const found = [text, plainTextOf(text)].some((each) => finder.count(each) > 0);
    if (found) this.changed++;
    return found;
  }

  #string(value: string, key: string): string | undefined {
    const { finder } = this.#rules;
    if (value.startsWith('/') && (key === '/Dest' || key === '/D')) return this.#name(value);
    const text = skippedKeys.has(key) || !finder ? undefined : textOf(value);
    if (text === undefined || !finder) return value;
    const cleaned = value.startsWith('b:') ? this.#bytes(value, finder) : finder.without(text);
    if (cleaned === undefined && key === '/URI' && finder.count(unescaped(text)) > 0) {
      this.changed++;
      return 'u:';
    }
    if (cleaned === undefined) return value;
    this.changed++;
    return `u:${cleaned}`;
  }

  #bytes(value: string, finder: Finder): string | undefined {
    const bytes = Buffer.from(value.slice(2), 'hex');
    const readings = [bytes.toString('latin1'), bytes.toString('utf8'), bytes.toString('utf16le')];
    if (bytes.length % 2 === 0) readings.push(Buffer.from(bytes).swap16().toString('utf16le'));
    return readings.some((each) => finder.count(each) > 0) ? '' : undefined;
  }
}

/** Returns the text of XML. */
export function plainTextOf(xml: string): string {
  const known: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return xml
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (given, hex, decimal, name) => {
      const point = hex ? Number.parseInt(hex, 16) : decimal ? Number(decimal) : undefined;
      if (point !== undefined) return point <= 0x10ffff ? String.fromCodePoint(point) : given;
      return known[String(name).toLowerCase()] ?? given;
    });
}

export function unescaped(uri: string): string {
  const bytes = uri
    .replace(/\+/g, ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Removes the alternative texts of tags whose content is changed, and of those above them. */
function cleanTags(pdf: PdfObjects, marks: Set<string>): void {
  const root = pdf.catalog['/StructTreeRoot'];
  if (marks.size === 0 || !isReference(root)) return;
  const seen = new Set<PdfValue>();
  const clean = (value: PdfValue, above: PdfValue | undefined, depth: number): boolean => {
    if (typeof value === 'number') return marks.has(`${above} ${value}`);
    const element = pdf.dict(value);
    if (!element || seen.has(value) || seen.size > maxNodes || depth > maxDepth) return false;
    if (isReference(value)) seen.add(value);
    const page = element['/Pg'] ?? above;
    if (typeof element['/MCID'] === 'number') return marks.has(`${page} ${element['/MCID']}`);
    const content = pdf.lookup(element['/K']);
    const kids = Array.isArray(content) ? content : element['/K'] === undefined ? [] : [element['/K']];
    const isAffected = kids.map((kid) => clean(kid, page, depth + 1)).includes(true);
    if (isAffected) pdf.update(value, { '/ActualText': undefined, '/Alt': undefined, '/E': undefined });
    return isAffected;
  };
  clean(root, undefined, 0);
}
