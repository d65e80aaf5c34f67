import { join } from 'node:path';
import { runTool } from '../../runtime/pdf-file.ts';
import type { Job } from '../job.ts';
import { operands } from '../marks/apply.ts';
import { draw, encode, families, rightToLeft, svg } from '../marks/draw.ts';
import { boxOf, displayedPage, inverse, type Matrix } from '../marks/geometry.ts';
import { PdfObjects } from '../objects.ts';
import { type Document, type PageDifference, summarize } from './differences.ts';
import { type Area, areasOf, type Run } from './words.ts';

interface Report {
  before: Document;
  after: Document;
  differences: PageDifference[];
  /** Those that have a page in the report. */
  shown: PageDifference[];
}

const margin = 24;
const header = 44;
/** Pages are drawn smaller if a side is longer. */
const maxSide = 3_000;
const colors = { deleted: '#d62728', inserted: '#2ca02c', moved: '#1f77b4', area: '#ff7f0e' };
const maxListed = 40;
const maxMarks = 3_000;

/** Writes a PDF with a summary, and both pages of each pair next to each other with their differences marked. */
export async function writeReport(report: Report, path: string, job: Job): Promise<void> {
  const { before, after, shown } = report;
  const pagesOf = (index: 0 | 1) => shown.flatMap(({ pair }) => pair[index] ?? []).map((page) => page + 1);
  const [left, right] = [pagesOf(0), pagesOf(1)];
  const sources = join(job.folder, 'sources.pdf');
  const lists = [
    ...(left.length > 0 ? [before.pdf.path, left.join(',')] : []),
    ...(right.length > 0 ? [after.pdf.path, right.join(',')] : []),
  ];
  const flattened = ['--coalesce-contents', '--flatten-annotations=screen', '--warning-exit-0'];
  if (lists.length > 0) await runTool('qpdf', ['--empty', '--pages', ...lists, '--', ...flattened, sources], job);
  const drawn = lists.length > 0 ? await PdfObjects.read(sources, job) : undefined;
  const sizes = drawn?.pages.map((page) => displayedPage(page, drawn)) ?? [];

  let [nextLeft, nextRight] = [0, left.length];
  const slots = shown.map(({ pair: [one, other] }) => {
    const [leftPage, rightPage] = [one === undefined ? -1 : nextLeft++, other === undefined ? -1 : nextRight++];
    return { leftPage, rightPage, layout: layoutOf(sizes[leftPage], sizes[rightPage]) };
  });
  const drawings = [
    summaryPage(report),
    ...shown.map((difference, index) => comparisonPage(difference, report, slots[index]?.layout ?? layoutOf())),
  ];
  const overlay = await draw(drawings, [], job);
  const joined = join(job.folder, 'joined.pdf');
  const further = lists.length > 0 ? [sources, '1-z'] : [];
  await runTool('qpdf', [overlay, '--pages', '.', '1-z', ...further, '--', '--warning-exit-0', joined], job);
  const objects = await PdfObjects.read(joined, job);
  const pages = objects.pages.slice(0, drawings.length);
  const forms = objects.pages.slice(drawings.length).map((page) => formOfPage(page, objects));
  objects.update(objects.catalog['/Pages'], { '/Kids': pages, '/Count': pages.length });
  objects.updateCatalog({ '/AcroForm': undefined });
  for (const [index, { leftPage, rightPage, layout }] of slots.entries()) {
    const page = pages[index + 1];
    if (page === undefined) continue;
    const placed = [
      { form: forms[leftPage], size: sizes[leftPage], x: layout.leftX },
      { form: forms[rightPage], size: sizes[rightPage], x: layout.rightX },
    ];
    const xObjects: Record<string, string> = {};
    const content = placed.map(({ form, size, x }, side) => {
      if (form === undefined || !size) return '';
      xObjects[`/Source${side}`] = form;
      const y = layout.height - header - size.height * layout.scale;
      const [a, b, c, d, e, f] = inverse(size.matrix);
      const placedAt: Matrix = [a, b, c, d, e, f].map((value) => value * layout.scale) as Matrix;
      placedAt[4] += x;
      placedAt[5] += y;
      return `q ${operands(placedAt)} cm /Source${side} Do Q\n`;
    });
    const { '/Contents': contents = null, '/Resources': resources } = objects.dict(page) ?? {};
    const all = objects.dict(resources) ?? {};
    objects.update(page, {
      '/Contents': [objects.addStream({}, content.join('')), contents],
      '/Resources': { ...all, '/XObject': { ...objects.dict(all['/XObject']), ...xObjects } },
    });
  }
  await objects.write(path, job);
}

/** Makes a form of a page of a source, whose content is one stream. */
function formOfPage(page: string, pdf: PdfObjects): string | undefined {
  const {
    '/Contents': contents,
    '/Resources': resources,
    '/MediaBox': media,
    '/CropBox': crop,
    '/Group': group,
  } = pdf.dict(page) ?? {};
  const box = boxOf(crop, pdf) ?? boxOf(media, pdf);
  const [content = contents] = pdf.array(contents);
  if (!box || typeof content !== 'string' || !pdf.dict(content)) return undefined;
  pdf.update(content, {
    '/Type': '/XObject',
    '/Subtype': '/Form',
    '/BBox': box,
    '/Resources': resources ?? {},
    '/Group': group,
  });
  return content;
}

interface Layout {
  width: number;
  height: number;
  leftX: number;
  rightX: number;
  scale: number;
}

interface Size {
  width: number;
  height: number;
}

/** Returns where two pages are on a page of the report. The place of a missing one is as large as the other. */
function layoutOf(left?: Size, right?: Size): Layout {
  const usual = { width: 595, height: 842 };
  const [one, other] = [left ?? right ?? usual, right ?? left ?? usual];
  const scale = Math.min(1, maxSide / Math.max(one.width, one.height, other.width, other.height));
  return {
    width: (one.width + other.width) * scale + 3 * margin,
    height: Math.max(one.height, other.height) * scale + header + margin,
    leftX: margin,
    rightX: 2 * margin + one.width * scale,
    scale,
  };
}

function comparisonPage(difference: PageDifference, { before, after }: Report, layout: Layout): string {
  const { pair, areas, deleted, inserted } = difference;
  const [one, other] = pair;
  const title = (name: string, page: number | undefined, x: number, missing: string) =>
    text(page === undefined ? missing : `${shortened(name)} – page ${page + 1}`, x, 28, 11);
  const drawnAreas = areas.map((area) =>
    rectangle(grown(area, 2), `fill="none" stroke="${colors.area}" stroke-width="1"`),
  );
  const marks = (runs: Run[], own: string) =>
    runs.flatMap(({ words, movedTo }) => {
      const color = movedTo === undefined ? own : colors.moved;
      return areasOf(words).map((area) => rectangle(grown(area, 0.5), `fill="${color}" fill-opacity="0.3"`));
    });
  const side = (drawn: string[], x: number) =>
    `<g transform="translate(${x} ${header}) scale(${layout.scale})">${drawn.slice(0, maxMarks).join('')}</g>`;
  const isPair = one !== undefined && other !== undefined;
  const content = [
    title(before.name, one, layout.leftX, 'Not in the original'),
    title(after.name, other, layout.rightX, 'Deleted'),
    side([...(one === undefined ? [] : drawnAreas), ...(isPair ? marks(deleted, colors.deleted) : [])], layout.leftX),
    side(
      [...(other === undefined ? [] : drawnAreas), ...(isPair ? marks(inserted, colors.inserted) : [])],
      layout.rightX,
    ),
    ...[layout.leftX, layout.rightX].map((x, index) => frame(x, layout, pair[index] === undefined, isPair, index)),
  ];
  return page(layout.width, layout.height, content.join(''));
}

/** Draws the edge of a page: green if it was inserted, red if it was deleted. */
function frame(x: number, layout: Layout, isMissing: boolean, isPair: boolean, index: number): string {
  const width = index === 0 ? layout.rightX - layout.leftX - margin : layout.width - layout.rightX - margin;
  const area = { left: x, top: header, width, height: layout.height - header - margin };
  const color = isPair || isMissing ? '#999999' : index === 0 ? colors.deleted : colors.inserted;
  return rectangle(area, `fill="none" stroke="${color}" stroke-width="${isPair || isMissing ? 0.5 : 3}"`);
}

function summaryPage({ before, after, differences }: Report): string {
  const summary = summarize(differences, before, after);
  const changed = differences.filter(({ status }) => status !== 'same');
  const lines = [
    `Original: ${shortened(before.name, 70)} (${before.pdf.pages} pages)`,
    `Compared: ${shortened(after.name, 70)} (${after.pdf.pages} pages)`,
    '',
    summary.identical
      ? 'There are no differences.'
      : `Pages: ${summary.changed_pages} changed, ${summary.inserted_pages} inserted, ${summary.deleted_pages} deleted, ${summary.same_pages} the same`,
    ...(summary.identical
      ? []
      : [
          `Words: ${summary.deleted_words} deleted, ${summary.inserted_words} inserted, ${summary.moved_words} moved`,
          '',
        ]),
    ...changed.slice(0, maxListed).map(lineOf),
    ...(changed.length > maxListed ? [`… and ${changed.length - maxListed} more pages`] : []),
  ];
  const legend = [
    { label: 'Deleted words', color: colors.deleted, left: 48 },
    { label: 'Inserted words', color: colors.inserted, left: 158 },
    { label: 'Words moved to or from another page', color: colors.moved, left: 268 },
    { label: 'Visual differences', color: colors.area, left: 448 },
  ].map(({ label, color, left }) => {
    const area = { left, top: 790, width: 14, height: 10 };
    const style = color === colors.area ? `fill="none" stroke="${color}"` : `fill="${color}" fill-opacity="0.3"`;
    return `${rectangle(area, style)}${text(label, area.left + 20, 799, 8)}`;
  });
  const drawn = lines.map((line, index) => text(line, 48, 120 + 15 * index, 10));
  return page(595, 842, [text('Comparison', 48, 84, 24), ...drawn, ...legend].join(''));
}

function lineOf({ pair: [one, other], status, changedShare, isResized, deleted, inserted }: PageDifference): string {
  if (one === undefined) return `Page ${(other ?? 0) + 1} was inserted.`;
  if (other === undefined) return `Page ${one + 1} of the original was deleted.`;
  const count = (runs: Run[]) => runs.reduce((sum, { words }) => sum + words.length, 0);
  const share = changedShare > 0 && changedShare < 0.0001 ? 'less than 0.01' : (100 * changedShare).toFixed(2);
  const parts = [
    `${share} % of the area differs`,
    ...(deleted.length > 0 ? [`${count(deleted)} words gone`] : []),
    ...(inserted.length > 0 ? [`${count(inserted)} words new`] : []),
    ...(isResized ? ['of another size'] : []),
  ];
  const pages = one === other ? `Page ${one + 1}` : `Page ${other + 1} (${one + 1} in the original)`;
  return `${pages} ${status}: ${parts.join(', ')}.`;
}

function shortened(name: string, length = 60): string {
  return name.length > length ? `${name.slice(0, length - 1)}…` : name;
}

function grown({ left, top, width, height }: Area, by: number): Area {
  return { left: left - by, top: top - by, width: width + 2 * by, height: height + 2 * by };
}

function rectangle({ left, top, width, height }: Area, style: string): string {
  const [x, y, w, h] = [left, top, Math.max(0, width), Math.max(0, height)].map((value) => Number(value.toFixed(2)));
  return `<rect x="${x}" y="${y}" width="${w}" height="${h}" ${style}/>`;
}

function text(content: string, x: number, y: number, size: number): string {
  const direction = rightToLeft.test(content) ? ' direction="rtl" text-anchor="end"' : '';
  return `<text x="${x}" y="${y}" font-size="${size}"${direction}>${encode(content)}</text>`;
}

function page(width: number, height: number, content: string): string {
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return svg(`<g font-family="${families.sans}" fill="#222222">${content}</g>`, size);
}
