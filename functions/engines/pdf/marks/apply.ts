import { join } from 'node:path';
import { checkPdf, type Pdf } from '../../runtime/pdf-file.ts';
import type { Job } from '../job.ts';
import type { PdfObjects, PdfValue } from '../objects.ts';
import { pagesOfList } from '../pages/ranges.ts';
import { readPages } from '../pages/select.ts';
import { removeSignatures } from '../signatures.ts';
import { boxOf, displayedPage, type Layout, type Matrix, placeMark, type Size } from './geometry.ts';

interface Marks {
  /** The PDF that has a mark on each page. */
  path: string;
  /** Page of the document to index of its mark. */
  byPage: Map<number, number>;
  layout: Layout;
  /** From 0 to 1. */
  opacity: number;
  isBehind: boolean;
}

/** Draws marks on pages of a PDF, and returns the path of the result. */
export async function applyMarks(pdf: Pdf, marks: Marks, job: Job): Promise<{ path: string; warnings: string[] }> {
  const objects = await readPages(pdf, pagesOfList(undefined, pdf.pages), job, marks.path);
  job.progress(60);
  const warnings = removeSignatures(objects);
  const [pages, drawn] = [objects.pages.slice(0, pdf.pages), objects.pages.slice(pdf.pages)];
  objects.update(objects.catalog['/Pages'], { '/Kids': pages, '/Count': pages.length });
  const forms = drawn.map((page) => formOf(page, objects));
  const state = objects.add({ '/Type': '/ExtGState', '/ca': marks.opacity, '/CA': marks.opacity });
  const save = objects.addStream({}, 'q\n');
  const layers = new Map<string, string>();
  for (const [number, index] of marks.byPage) {
    const [page, form] = [pages[number - 1], forms[index]];
    if (page === undefined || form === undefined) continue;
    const shown = displayedPage(page, objects);
    // Pages of one size with the same mark share its drawing.
    const key = `${index} ${shown.width} ${shown.height}`;
    const layer = layers.get(key) ?? layerOf(form, shown, marks.layout, objects);
    layers.set(key, layer);
    drawLayer(page, layer, shown.matrix, { state, save, isBehind: marks.isBehind }, objects);
  }
  const path = join(job.folder, 'marked.pdf');
  await objects.write(path, job);
  await checkPdf(path, job.folder, job, pdf.pages);
  return { path, warnings };
}

export interface Form extends Size {
  reference: string;
}

/** Makes a form of the content of a page that was drawn by cairo, which writes one stream. */
export function formOf(page: string, objects: PdfObjects): Form {
  const { '/MediaBox': media, '/Contents': contents, '/Resources': resources } = objects.dict(page) ?? {};
  const [left, bottom, right, top] = boxOf(media, objects) ?? [0, 0, 1, 1];
  const [content = contents] = objects.array(contents);
  const reference = String(content);
  objects.update(reference, {
    '/Type': '/XObject',
    '/Subtype': '/Form',
    '/BBox': [left, bottom, right, top],
    '/Matrix': [1, 0, 0, 1, -left, -bottom],
    '/Resources': resources,
  });
  return { reference, width: right - left, height: top - bottom };
}

/** Draws a mark, or many, on a transparent sheet of the size of a page. Overlapping marks are no darker. */
function layerOf(form: Form, page: Size, layout: Layout, objects: PdfObjects): string {
  const places = placeMark(form, page, layout);
  return objects.addStream(
    {
      '/Type': '/XObject',
      '/Subtype': '/Form',
      '/BBox': [0, 0, page.width, page.height],
      '/Group': { '/Type': '/Group', '/S': '/Transparency' },
      '/Resources': { '/XObject': { '/Mark': form.reference } },
    },
    places.map((matrix) => `q ${operands(matrix)} cm /Mark Do Q\n`).join(''),
  );
}

/** Draws a sheet on a page, as an artifact: it is no part of the text that screen readers read. */
function drawLayer(
  page: string,
  layer: string,
  matrix: Matrix,
  { state, save, isBehind }: { state: string; save: string; isBehind: boolean },
  objects: PdfObjects,
): void {
  const { '/Contents': contents, '/Resources': resources } = objects.dict(page) ?? {};
  const all = objects.dict(resources) ?? {};
  const [xObjects, states] = [objects.dict(all['/XObject']) ?? {}, objects.dict(all['/ExtGState']) ?? {}];
  let name = '/Mark';
  for (let number = 1; name in xObjects || name in states; number++) name = `/Mark${number}`;
  const drawing = `/Artifact <</Type /Pagination>> BDC q ${operands(matrix)} cm ${name} gs ${name} Do Q EMC\n`;
  const old = Array.isArray(objects.lookup(contents))
    ? objects.array(contents)
    : contents === undefined
      ? []
      : [contents];
  const made: PdfValue[] = isBehind
    ? [objects.addStream({}, drawing), ...old]
    : [save, ...old, objects.addStream({}, `\nQ\n${drawing}`)];
  objects.update(page, {
    '/Contents': made,
    '/Resources': { ...all, '/XObject': { ...xObjects, [name]: layer }, '/ExtGState': { ...states, [name]: state } },
    '/Thumb': undefined,
  });
}

export function operands(matrix: Matrix): string {
  return matrix.map((value) => String(Number(value.toFixed(5)))).join(' ');
}
