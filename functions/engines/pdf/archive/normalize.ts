import { readFile } from 'node:fs/promises';
import { srgbProfile } from '../../runtime/ghostscript.ts';
import { isDict, isReference, type PdfDict, type PdfObjects, type PdfValue, textOf } from '../objects.ts';
import { treeEntries } from '../pages/targets.ts';
import { removeSignatures } from '../signatures.ts';
import type { Level } from './problems.ts';
import { actionTypes, annotationTypes, catalogKeys, laterAnnotationTypes, pageKeys } from './validate.ts';
import { type Description, type Information, isoDate, pdfDate, xmpOf } from './xmp.ts';

const producer = 'Lathe';
const maxDepth = 100;

const droppedKeys = new Set([
  '/AA',
  '/Alternates',
  '/OPI',
  '/PieceInfo',
  '/Thumb',
  '/PresSteps',
  '/HT',
  '/HTP',
  '/HTO',
]);
const informationKeys = ['Title', 'Author', 'Subject', 'Keywords', 'Creator', 'Producer'] as const;

export interface Normalizing {
  level: Level | undefined;
  extras: Pick<Description, 'isUniversal' | 'invoice'>;
  warnings: Set<string>;
}

/**
 * Changes what can be changed without a difference to what a page shows: metadata and entries of fonts and, for a level of
 * PDF/A, the output intent, flags of annotations, actions, and entries that archives must not have.
 */
export async function normalize(pdf: PdfObjects, { level, extras, warnings }: Normalizing): Promise<void> {
  for (const warning of removeSignatures(pdf)) warnings.add(warning);
  for (const reference of pdf.references) cleanObject(pdf, reference, level, warnings);
  if (level) {
    for (const page of pdf.pages) cleanPage(pdf, page, level, warnings);
    cleanForm(pdf);
    await cleanCatalog(pdf, level, warnings);
    cleanAttachments(pdf, level);
  }
  describe(pdf, level, extras);
}

function cleanObject(pdf: PdfObjects, reference: string, level: Level | undefined, warnings: Set<string>): void {
  const value = pdf.lookup(reference);
  const cleaned = clean(pdf, value, level, warnings, 0);
  if (cleaned !== value) pdf.set(reference, cleaned);
}

/** Returns a value without what archives must not have; the same value if there is nothing. */
function clean(
  pdf: PdfObjects,
  value: PdfValue,
  level: Level | undefined,
  warnings: Set<string>,
  depth: number,
): PdfValue {
  if (depth > maxDepth || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((each) => clean(pdf, each, level, warnings, depth + 1));
    return items.some((each, index) => each !== value[index]) ? items : value;
  }
  let result: PdfDict | undefined;
  const put = (key: string, changed: PdfValue | undefined) => {
    result ??= { ...value };
    if (changed === undefined) delete result[key];
    else result[key] = changed;
  };
  for (const [key, entry] of Object.entries(value)) {
    if (entry === undefined || isDropped(pdf, value, key, entry, level, warnings)) put(key, undefined);
    else {
      const cleaned = clean(pdf, entry, level, warnings, depth + 1);
      if (cleaned !== entry) put(key, cleaned);
    }
  }
  if (value['/Interpolate'] === true) put('/Interpolate', false);
  if (value['/Subtype'] === '/CIDFontType2' && value['/CIDToGIDMap'] === undefined) put('/CIDToGIDMap', '/Identity');
  if (value['/Subtype'] === '/TrueType' && value['/Encoding'] !== undefined) {
    const flags = pdf.lookup(pdf.dict(value['/FontDescriptor'])?.['/Flags']);
    if (typeof flags === 'number' && (flags & 4) !== 0) put('/Encoding', undefined);
  }
  return result ?? value;
}

function isDropped(
  pdf: PdfObjects,
  dict: PdfDict,
  key: string,
  value: PdfValue,
  level: Level | undefined,
  warnings: Set<string>,
): boolean {
  const isGlyphList = (key === '/CIDSet' || key === '/CharSet') && dict['/Type'] === '/FontDescriptor';
  if (isGlyphList || level === undefined) return isGlyphList;
  if (droppedKeys.has(key)) return true;
  switch (key) {
    case '/Metadata':
      return dict['/Type'] !== '/Catalog';
    case '/Group':
      return level === '1b' && pdf.dict(value)?.['/S'] === '/Transparency';
    case '/TR2':
      return pdf.lookup(value) === '/Default';
    case '/A':
    case '/OpenAction':
    case '/Next': {
      const action = pdf.dict(value);
      const type = action?.['/S'];
      if (typeof type !== 'string' || (key === '/Next' && dict['/S'] === undefined)) return false;
      const isPermitted = actionTypes.has(type.slice(1)) && !(key === '/A' && dict['/Subtype'] === '/Widget');
      if (!isPermitted) warnings.add('Scripts and other actions that archives must not have were removed.');
      return !isPermitted;
    }
    case '/EF':
      return level !== '3b';
    default:
      return false;
  }
}

const hidden = 1 | 2 | 32 | 256;
const printed = 4;

function cleanPage(pdf: PdfObjects, page: string, level: Level, warnings: Set<string>): void {
  const dict = pdf.dict(page) ?? {};
  const entries: PdfDict = {};
  for (const key of Object.keys(dict)) if (!pageKeys.has(key.slice(1))) entries[key] = undefined;
  if (dict['/Resources'] === undefined) entries['/Resources'] = {};
  const annotations = pdf.array(dict['/Annots']);
  if (dict['/Annots'] !== undefined) {
    const kept = annotations.flatMap((each) => cleanAnnotation(pdf, each, level, warnings));
    entries['/Annots'] = kept.length > 0 ? kept : undefined;
  }
  pdf.update(page, entries);
}

/** Returns an annotation as archives must have it, or nothing if they must not. */
function cleanAnnotation(pdf: PdfObjects, value: PdfValue, level: Level, warnings: Set<string>): PdfValue[] {
  const dict = pdf.dict(value);
  const subtype = String(dict?.['/Subtype']).slice(1);
  const flags = Number(pdf.lookup(dict?.['/F']) ?? 0);
  const isPermitted =
    annotationTypes.has(subtype) ||
    (level !== '1b' && laterAnnotationTypes.has(subtype) && (subtype !== 'FileAttachment' || level === '3b'));
  if (!dict || !isPermitted) {
    warnings.add('Annotations of kinds that archives must not have were removed.');
    return [];
  }
  if ((flags & hidden) !== 0) return [];
  const appearances = pdf.dict(dict['/AP']);
  return [
    pdf.changed(value, {
      '/F': flags | printed,
      ...(appearances ? { '/AP': { '/N': appearances['/N'] ?? null } } : {}),
      ...(level === '1b' && pdf.lookup(dict['/CA']) === 1 ? { '/CA': undefined } : {}),
    }),
  ];
}

function cleanForm(pdf: PdfObjects): void {
  const form = pdf.catalog['/AcroForm'];
  if (!pdf.dict(form)) return;
  const entries = { '/NeedAppearances': undefined, '/XFA': undefined };
  pdf.updateCatalog({ '/AcroForm': pdf.changed(form, entries) });
}

async function cleanCatalog(pdf: PdfObjects, level: Level, warnings: Set<string>): Promise<void> {
  const { catalog } = pdf;
  const entries: PdfDict = {};
  for (const key of Object.keys(catalog)) if (!catalogKeys.has(key.slice(1))) entries[key] = undefined;
  const names = pdf.dict(catalog['/Names']) ?? {};
  if (names['/JavaScript'] !== undefined)
    warnings.add('Scripts and other actions that archives must not have were removed.');
  const kept: PdfDict = {};
  if (names['/Dests'] !== undefined) kept['/Dests'] = names['/Dests'];
  if (level === '3b' && names['/EmbeddedFiles'] !== undefined) kept['/EmbeddedFiles'] = names['/EmbeddedFiles'];
  else if (names['/EmbeddedFiles'] !== undefined) warnings.add('The attached files were removed. Level 3b keeps them.');
  entries['/Names'] = Object.keys(kept).length > 0 ? kept : undefined;
  if (level !== '1b' && pdf.dict(catalog['/OCProperties'])) entries['/OCProperties'] = layersOf(pdf);
  const profile = await readFile(srgbProfile);
  entries['/OutputIntents'] = [
    {
      '/Type': '/OutputIntent',
      '/S': '/GTS_PDFA1',
      '/OutputConditionIdentifier': 'u:sRGB',
      '/RegistryName': 'u:http://www.color.org',
      '/Info': 'u:sRGB IEC61966-2.1',
      '/DestOutputProfile': pdf.addStream({ '/N': 3 }, profile.toString('latin1')),
    },
  ];
  pdf.updateCatalog(entries);
}

/** Returns the layers with a name for their configuration and a list of all. */
function layersOf(pdf: PdfObjects): PdfValue {
  const { '/OCProperties': layers } = pdf.catalog;
  const { '/OCGs': groups } = pdf.dict(layers) ?? {};
  const config = pdf.dict(pdf.dict(layers)?.['/D']) ?? {};
  const listed = new Set<PdfValue>();
  const collect = (value: PdfValue, depth: number): void => {
    if (isReference(value) && isDict(pdf.dict(value))) listed.add(value);
    else if (depth < 50) for (const each of pdf.array(value)) collect(each, depth + 1);
  };
  collect(config['/Order'] ?? null, 0);
  const missing = pdf.array(groups).filter((group) => !listed.has(group));
  const order = [...pdf.array(config['/Order']), ...missing];
  const name = textOf(pdf.lookup(config['/Name'])) || 'Default';
  return pdf.changed(layers, {
    '/Configs': undefined,
    '/D': pdf.changed(pdf.dict(layers)?.['/D'], {
      '/Name': `u:${name}`,
      '/AS': undefined,
      ...(config['/Order'] === undefined ? {} : { '/Order': order }),
    }),
  });
}

/** Gives embedded files what PDF/A-3 requires, or removes them. */
function cleanAttachments(pdf: PdfObjects, level: Level): void {
  const files = treeEntries(pdf, pdf.dict(pdf.catalog['/Names'])?.['/EmbeddedFiles'], '/Names');
  if (level !== '3b') {
    pdf.updateCatalog({ '/AF': undefined });
    return;
  }
  const all = new Set<PdfValue>(pdf.array(pdf.catalog['/AF']));
  const named = files.flatMap(([name, value]) => {
    const spec = isReference(value) ? value : pdf.add(value);
    all.add(spec);
    prepareFile(pdf, spec, textOf(name) ?? 'file');
    return [name, spec];
  });
  if (named.length > 0)
    pdf.updateCatalog({
      '/Names': pdf.changed(pdf.catalog['/Names'], { '/EmbeddedFiles': pdf.add({ '/Names': named }) }),
    });
  for (const page of pdf.pages)
    for (const annotation of pdf.array(pdf.dict(page)?.['/Annots'])) {
      const { '/Subtype': subtype, '/FS': spec } = pdf.dict(annotation) ?? {};
      if (subtype !== '/FileAttachment' || !isReference(spec)) continue;
      all.add(spec);
      prepareFile(pdf, spec, 'file');
    }
  for (const spec of all) if (isReference(spec)) prepareFile(pdf, spec, 'file');
  pdf.updateCatalog({ '/AF': all.size > 0 ? [...all] : undefined });
}

const relationships = ['/Source', '/Data', '/Alternative', '/Supplement', '/Unspecified'];

function prepareFile(pdf: PdfObjects, spec: string, label: string): void {
  const dict = pdf.dict(spec);
  const files = pdf.dict(dict?.['/EF']);
  if (!dict || !files) return;
  const name = textOf(pdf.lookup(dict['/UF'])) ?? textOf(pdf.lookup(dict['/F'])) ?? label;
  const relationship = pdf.lookup(dict['/AFRelationship']);
  pdf.update(spec, {
    '/Type': '/Filespec',
    '/F': `u:${name}`,
    '/UF': `u:${name}`,
    '/AFRelationship': relationships.includes(String(relationship)) ? relationship : '/Unspecified',
  });
  for (const file of Object.values(files)) {
    const type = String(pdf.lookup(pdf.dict(file)?.['/Subtype'])).slice(1);
    if (!/^[-\w+.]+\/[-\w+.]+$/.test(type)) pdf.update(file, { '/Subtype': '/application/octet-stream' });
  }
}

/** Writes the information and the same as metadata. */
function describe(pdf: PdfObjects, level: Level | undefined, extras: Normalizing['extras']): void {
  const given = pdf.dict(pdf.trailer['/Info']) ?? {};
  const information: Information = {};
  const info: PdfDict = {};
  for (const key of informationKeys) {
    const text = key === 'Producer' ? producer : plain(textOf(pdf.lookup(given[`/${key}`])) ?? '');
    if (text === '') continue;
    information[key] = text;
    info[`/${key}`] = `u:${text}`;
  }
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const created = isoDate(textOf(pdf.lookup(given['/CreationDate'])) ?? '') ?? now;
  for (const [key, date] of Object.entries({ CreationDate: created, ModDate: now } as const)) {
    information[key as 'CreationDate'] = date;
    info[`/${key}`] = `u:${pdfDate(date)}`;
  }
  const xmp = Buffer.from(xmpOf({ ...extras, level, information }));
  const metadata = pdf.addStream({ '/Type': '/Metadata', '/Subtype': '/XML' }, xmp.toString('latin1'));
  pdf.updateCatalog({ '/Metadata': metadata });
  const others = Object.keys(pdf.trailer).filter((key) => !['/Root', '/ID', '/Size'].includes(key));
  pdf.updateTrailer({ ...Object.fromEntries(others.map((key) => [key, undefined])), '/Info': pdf.add(info) });
}

/** Returns a text that XML and PDF can both hold. */
function plain(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\r\n\t]+/g, ' ')
    .replace(/[\p{Cc}\ufffe\uffff\ufeff]/gu, '')
    .trim();
}
