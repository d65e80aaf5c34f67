import { operands } from '../marks/apply.ts';
import { boxOf, type Matrix } from '../marks/geometry.ts';
import { isDict, isReference, type PdfDict, type PdfObjects, type PdfValue } from '../objects.ts';

/** Bits of the entry F of annotations that are not displayed: hidden, and no view. */
const notDisplayed = 0b100010;

/** Draws the fields of pages as their content, and removes the fields. */
export function flatten(pages: string[], pdf: PdfObjects): void {
  for (const page of pages) {
    const annotations = pdf.array(pdf.dict(page)?.['/Annots']);
    const isField = (each: PdfValue) => pdf.dict(each)?.['/Subtype'] === '/Widget';
    const fields = annotations.filter(isField);
    if (fields.length === 0) continue;
    const rest = annotations.filter((each) => !isField(each));
    drawFields(page, fields, pdf);
    pdf.update(page, { '/Annots': rest.length > 0 ? rest : undefined });
    // Tags refer to fields, and would keep their values in the file.
    for (const field of fields) if (isReference(field)) pdf.set(field, null);
  }
}

function drawFields(page: string, fields: PdfValue[], pdf: PdfObjects): void {
  const { '/Contents': contents, '/Resources': resources } = pdf.dict(page) ?? {};
  const all = pdf.dict(resources) ?? {};
  const xObjects: PdfDict = { ...pdf.dict(all['/XObject']) };
  let number = 0;
  const drawn = fields.map((field) => {
    const found = appearanceOf(pdf.dict(field) ?? {}, pdf);
    if (!found) return '';
    while (`/Field${number}` in xObjects) number++;
    const name = `/Field${number}`;
    xObjects[name] = found.stream;
    return `q ${operands(found.matrix)} cm ${name} Do Q\n`;
  });
  const old = Array.isArray(pdf.lookup(contents)) ? pdf.array(contents) : contents === undefined ? [] : [contents];
  pdf.update(page, {
    '/Contents': [pdf.addStream({}, 'q\n'), ...old, pdf.addStream({}, `\nQ\n${drawn.join('')}`)],
    '/Resources': { ...all, '/XObject': xObjects },
    '/Thumb': undefined,
  });
}

/** Returns the appearance that is displayed, and how it is placed: as in ISO 32000-2, 12.5.5. */
function appearanceOf(widget: PdfDict, pdf: PdfObjects): { stream: string; matrix: Matrix } | undefined {
  const flags = pdf.lookup(widget['/F']);
  if (typeof flags === 'number' && flags & notDisplayed) return undefined;
  const normal = pdf.dict(widget['/AP'])?.['/N'];
  const state = pdf.lookup(widget['/AS']);
  const states = pdf.dict(normal);
  const stream = isDict(states) && states['/BBox'] === undefined ? states[String(state)] : normal;
  const form = pdf.dict(stream);
  const box = boxOf(form?.['/BBox'], pdf);
  const rectangle = boxOf(widget['/Rect'], pdf);
  if (!isReference(stream) || !form || !box || !rectangle) return undefined;
  const given = pdf.array(form['/Matrix']).map((each) => Number(pdf.lookup(each)));
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = given.length === 6 && given.every(Number.isFinite) ? given : [];
  const corners = [
    [box[0], box[1]],
    [box[0], box[3]],
    [box[2], box[1]],
    [box[2], box[3]],
  ].map(([x = 0, y = 0]) => [a * x + c * y + e, b * x + d * y + f] as const);
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  const [left, bottom] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - bottom];
  if (!(width > 0 && height > 0)) return undefined;
  const scaleX = (rectangle[2] - rectangle[0]) / width;
  const scaleY = (rectangle[3] - rectangle[1]) / height;
  return {
    stream,
    matrix: [scaleX, 0, 0, scaleY, rectangle[0] - left * scaleX, rectangle[1] - bottom * scaleY],
  };
}
