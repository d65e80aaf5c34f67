import { isReference, type PdfDict, type PdfObjects, type PdfValue, textOf } from '../objects.ts';
import { type Findings, readContent, type Shared } from './content.ts';
import { unescaped } from './document.ts';
import type { Finder } from './find.ts';
import { readingsOf } from './reading.ts';
import { boundsOf, box, overlap, type Shape } from './shapes.ts';
import { UnreadableContent } from './tokens.ts';

const maxDepth = 50;
/** What they show is not in the PDF's own form, so it can neither be searched nor drawn. */
const media = ['/RichMedia', '/3D', '/Movie', '/Screen', '/Sound'];

export interface Annotations {
  /** Number of those that were removed or emptied because of what they show. */
  removed: number;
  hasMedia: boolean;
}

interface Wanted {
  finder: Finder | undefined;
  /** Given areas. Everything under them is removed. */
  areas: Shape[];
  /** Where text was removed. Links there are removed too. */
  hidden: Shape[];
  removeAttachments: boolean;
  color: string;
}

/** Removes the annotations of a page that show matches or are under areas. Form fields stay, without their values. */
export function removeAnnotations(page: string, wanted: Wanted, pdf: PdfObjects, shared: Shared): Annotations {
  const all = pdf.array(pdf.dict(page)?.['/Annots']);
  const result: Annotations = { removed: 0, hasMedia: false };
  const gone = new Set<PdfValue>();
  for (const annotation of all) {
    const dict = pdf.dict(annotation);
    if (!dict) continue;
    const subtype = String(pdf.lookup(dict['/Subtype']));
    if (media.includes(subtype)) {
      result.hasMedia = true;
      gone.add(annotation);
      continue;
    }
    if (subtype === '/FileAttachment' && wanted.removeAttachments) gone.add(annotation);
    if (!isAffected(dict, subtype, wanted, pdf, shared)) continue;
    result.removed++;
    if (subtype === '/Widget') emptyField(annotation, wanted.color, pdf);
    else gone.add(annotation);
  }
  const isGone = (value: PdfValue | undefined) => isReference(value) && gone.has(value);
  const kept = all.filter((each) => {
    const dict = pdf.dict(each);
    return !gone.has(each) && !isGone(dict?.['/IRT']) && !(dict?.['/Subtype'] === '/Popup' && isGone(dict['/Parent']));
  });
  // Tags may refer to them.
  for (const each of gone) if (isReference(each)) pdf.set(each, null);
  if (kept.length < all.length) pdf.update(page, { '/Annots': kept.length > 0 ? kept : undefined });
  return result;
}

function isAffected(dict: PdfDict, subtype: string, wanted: Wanted, pdf: PdfObjects, shared: Shared): boolean {
  const { finder, areas, hidden } = wanted;
  const numbers = pdf.array(dict['/Rect']).map((each) => Number(pdf.lookup(each)) || 0);
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = numbers;
  const { left, bottom, right, top } = boundsOf([
    [x1, y1],
    [x2, y2],
  ]);
  const shape = box(left, bottom, right, top);
  const isUnder = (shapes: Shape[]) => shapes.some((each) => overlap(each, shape, 0.5));
  if (subtype !== '/Popup' && isUnder(areas)) return true;
  if (subtype === '/Link' && isUnder(hidden)) return true;
  if (!finder) return false;
  const uri = textOf(pdf.lookup(pdf.dict(dict['/A'])?.['/URI']));
  if (uri !== undefined && finder.count(unescaped(uri)) > 0) return true;
  try {
    return appearancesOf(dict, pdf).some((reference) => hasMatch(readAppearance(reference, pdf, shared), finder));
  } catch (error) {
    // What cannot be read may show anything.
    if (error instanceof UnreadableContent) return true;
    throw error;
  }
}

/** Returns whether content shows a match. */
export function hasMatch({ glyphs, marks }: Findings, finder: Finder): boolean {
  const texts = marks.map(({ actualText }) => actualText ?? '').filter((text) => text !== '');
  return (
    readingsOf(glyphs).some((pieces) => finder.find(pieces).length > 0) || texts.some((text) => finder.count(text) > 0)
  );
}

export function readAppearance(reference: string, pdf: PdfObjects, shared: Shared): Findings {
  const dict = pdf.dict(reference) ?? {};
  return readContent({ bytes: pdf.stream(reference), resources: dict['/Resources'] }, pdf, shared);
}

/** Returns the streams that draw an annotation, in all its states. */
export function appearancesOf(dict: PdfDict, pdf: PdfObjects): string[] {
  const states = Object.values(pdf.dict(dict['/AP']) ?? {}).flatMap((value) => {
    if (isReference(value) && pdf.isStream(value)) return [value];
    return Object.values(pdf.dict(value) ?? {});
  });
  return states.filter((each): each is string => isReference(each) && pdf.isStream(each));
}

/** Removes the value of a field, and draws its widgets as boxes. */
function emptyField(widget: PdfValue, color: string, pdf: PdfObjects): void {
  let field = widget;
  for (let depth = 0; depth < maxDepth; depth++) {
    const dict = pdf.dict(field);
    if (dict?.['/FT'] !== undefined || !isReference(dict?.['/Parent'])) break;
    field = dict['/Parent'];
  }
  const seen = new Set<string>();
  const empty = (value: PdfValue, depth: number) => {
    const dict = pdf.dict(value);
    if (!dict || !isReference(value) || depth > maxDepth || seen.has(value)) return;
    seen.add(value);
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = pdf.array(dict['/Rect']).map((each) => Number(pdf.lookup(each)) || 0);
    const [width, height] = [Math.abs(x2 - x1), Math.abs(y2 - y1)];
    const drawing = `${color} rg 0 0 ${width} ${height} re f`;
    const form = { '/Type': '/XObject', '/Subtype': '/Form', '/BBox': [0, 0, width, height], '/Resources': {} };
    const values = { '/V': undefined, '/DV': undefined, '/RV': undefined, '/I': undefined, '/AS': undefined };
    pdf.update(value, { ...values, ...(dict['/Rect'] ? { '/AP': { '/N': pdf.addStream(form, drawing) } } : {}) });
    for (const kid of pdf.array(dict['/Kids'])) empty(kid, depth + 1);
  };
  empty(field, 0);
  if (!isReference(widget)) return;
  empty(widget, 0);
}
