import { ommlToTex } from '../math/omml.ts';
import {
  addItem,
  addTable,
  type Block,
  type Cell,
  type Content,
  type Inline,
  isBlank,
  type Style,
  textOf,
  tidy,
} from '../model.ts';
import { mainPart, type Part, type Parts, Pictures, titleOf } from '../ooxml.ts';
import { all, attributeOf, child, contentOf, type Element, elements, find, findAll } from '../xml.ts';

/** What a slide shows, with its place. */
interface Shape {
  top: number;
  left: number;
  isTitle: boolean;
  blocks: Block[];
}

/** Reads a presentation of PowerPoint: slides in order, each with its title, its content and the notes of the speaker. */
export function readPptx(parts: Parts): Content {
  const main = mainPart(parts);
  const pictures = new Pictures();
  const blocks: Block[] = [];
  const slides = findAll(main.root, 'p:sldId');
  for (const [index, { attributes }] of slides.entries()) {
    const slide = main.part(attributes['r:id']);
    if (!slide) continue;
    blocks.push({ kind: 'marker', unit: 'slide', number: index + 1 });
    const shapes = shapesOf(find(slide.root, 'p:spTree'), slide, pictures);
    const [titles, others] = [shapes.filter(({ isTitle }) => isTitle), shapes.filter(({ isTitle }) => !isTitle)];
    blocks.push(...titles.flatMap((shape) => shape.blocks));
    // Rows of shapes are read from left to right. A tenth of a usual slide is within a row.
    others.sort(
      (one, other) => Math.round(one.top / 500_000) - Math.round(other.top / 500_000) || one.left - other.left,
    );
    blocks.push(...others.flatMap((shape) => shape.blocks));
    blocks.push(...notesOf(slide));
  }
  return { ...titleOf(parts), blocks, notes: new Map(), pictures: pictures.list };
}

function notesOf(slide: Part): Block[] {
  const notes = slide.ofType('notesSlide');
  if (!notes) return [];
  const body = findAll(notes.root, 'p:sp').filter((shape) => placeholderOf(shape)?.attributes.type === 'body');
  const text = body.flatMap((shape) => textBlocks(child(shape, 'p:txBody'), notes, false));
  if (text.length === 0) return [];
  return [{ kind: 'quote', blocks: [{ kind: 'paragraph', content: [textOf('Notes:', { bold: true })] }, ...text] }];
}

function placeholderOf(shape: Element): Element | undefined {
  return child(shape, 'p:nvSpPr', 'p:nvPr', 'p:ph');
}

/** Returns the place that the layout gives to a placeholder. */
function inheritedOffset(shape: Element, slide: Part): Element | undefined {
  const own = placeholderOf(shape)?.attributes;
  const layout = own && slide.ofType('slideLayout');
  const same = findAll(layout?.root, 'p:sp').find((each) => {
    const other = placeholderOf(each)?.attributes;
    return other !== undefined && (own?.idx === undefined ? other.type === own?.type : other.idx === own.idx);
  });
  return find(child(same, 'p:spPr'), 'a:off');
}

const skipped = new Set(['dt', 'ftr', 'sldNum', 'hdr', 'sldImg']);

function shapesOf(tree: Element | undefined, slide: Part, pictures: Pictures, depth = 0): Shape[] {
  return elements(tree).flatMap((element): Shape[] => {
    const at = find(child(element, 'p:spPr') ?? child(element, 'p:xfrm') ?? child(element, 'p:grpSpPr'), 'a:off');
    const offset = at ?? child(element, 'p:xfrm', 'a:off') ?? inheritedOffset(element, slide);
    const place = { top: Number(offset?.attributes.y ?? 1_500_000), left: Number(offset?.attributes.x ?? 0) };
    switch (element.name) {
      case 'p:sp': {
        const type = placeholderOf(element)?.attributes.type;
        if (type !== undefined && skipped.has(type)) return [];
        const isTitle = type === 'title' || type === 'ctrTitle';
        const isList =
          placeholderOf(element) !== undefined && (type === undefined || type === 'body' || type === 'obj');
        const blocks = textBlocks(child(element, 'p:txBody'), slide, isList);
        return [{ ...place, isTitle, blocks: isTitle ? [titleBlock(blocks)].flat() : blocks }];
      }
      case 'p:pic':
        return [{ ...place, isTitle: false, blocks: [pictureBlock(element, slide, pictures)] }];
      case 'p:graphicFrame':
        return [{ ...place, isTitle: false, blocks: frameBlocks(element, slide) }];
      case 'p:grpSp': {
        if (depth > 20) return [];
        const inner = shapesOf(element, slide, pictures, depth + 1);
        return offset ? inner.map((shape) => ({ ...shape, ...(shape.isTitle ? {} : place) })) : inner;
      }
      case 'mc:AlternateContent':
        return shapesOf(child(element, 'mc:Choice') ?? child(element, 'mc:Fallback'), slide, pictures, depth + 1);
      default:
        return [];
    }
  });
}

function titleBlock(blocks: Block[]): Block[] {
  const content = blocks.flatMap((block, index): Inline[] =>
    block.kind === 'paragraph' ? [...(index > 0 ? [textOf(' ')] : []), ...block.content] : [],
  );
  const flat = content.map((inline) => (inline.kind === 'break' ? textOf(' ') : inline));
  return isBlank(flat) ? [] : [{ kind: 'heading', level: 2, content: flat }];
}

function pictureBlock(element: Element, slide: Part, pictures: Pictures): Block {
  const { descr, title } = child(element, 'p:nvPicPr', 'p:cNvPr')?.attributes ?? {};
  const picture = pictures.add(slide.bytes(find(element, 'a:blip')?.attributes['r:embed']));
  return { kind: 'paragraph', content: [{ kind: 'picture', picture, alt: descr ?? title ?? '' }] };
}

function frameBlocks(frame: Element, slide: Part): Block[] {
  const blocks: Block[] = [];
  for (const table of findAll(frame, 'a:tbl')) {
    const isHeader = child(table, 'a:tblPr')?.attributes.firstRow === '1';
    const rows = all(table, 'a:tr').map((row) =>
      all(row, 'a:tc').flatMap((cell): Cell[] => {
        const { hMerge, vMerge, gridSpan = '1', rowSpan = '1' } = cell.attributes;
        if (hMerge === '1' || vMerge === '1') return [];
        const span = (text: string) => Math.min(1_000, Math.max(1, Number(text) || 1));
        const text = textBlocks(child(cell, 'a:txBody'), slide, false);
        return [{ blocks: text, columns: span(gridSpan), rows: span(rowSpan) }];
      }),
    );
    addTable(blocks, rows, isHeader ? 1 : 0);
  }
  const chart = slide.part(find(frame, 'c:chart')?.attributes['r:id']);
  if (chart) blocks.push(...chartBlocks(chart.root));
  const diagram = slide.part(find(frame, 'dgm:relIds')?.attributes['r:dm']);
  for (const point of diagram ? findAll(diagram.root, 'dgm:t') : [])
    for (const block of textBlocks(point, slide, false)) addItem(blocks, 0, false, 1, { blocks: [block] });
  return blocks;
}

/** Returns the values of a chart as a table. */
export function chartBlocks(chart: Element): Block[] {
  const cache = (parent: Element | undefined) => {
    const values: string[] = [];
    for (const point of findAll(parent, 'c:pt')) {
      const place = Number(point.attributes.idx);
      if (place >= 0 && place < 10_000) values[place] = contentOf(child(point, 'c:v'));
    }
    return Array.from(values, (value) => value ?? '');
  };
  const title = contentOf(find(find(chart, 'c:title'), 'a:p')).trim();
  const series = findAll(chart, 'c:ser');
  const first = series[0];
  if (!first) return [];
  const categories = cache(child(first, 'c:cat') ?? child(first, 'c:xVal'));
  const columns = series.map((one) => cache(child(one, 'c:val') ?? child(one, 'c:yVal')));
  const names = series.map((one) => cache(child(one, 'c:tx'))[0] ?? '');
  const cell = (text: string): Cell => ({
    blocks: text === '' ? [] : [{ kind: 'paragraph', content: [textOf(text)] }],
    columns: 1,
    rows: 1,
  });
  const count = Math.max(categories.length, ...columns.map(({ length }) => length));
  const rows = Array.from({ length: count }, (_, row) =>
    [categories, ...columns].map((values) => cell(values[row] ?? '')),
  );
  const table: Block = { kind: 'table', rows: [['', ...names].map(cell), ...rows], headerRows: 1 };
  return title === '' ? [table] : [{ kind: 'paragraph', content: [textOf(title, { bold: true })] }, table];
}

function textBlocks(body: Element | undefined, part: Part, isList: boolean): Block[] {
  const blocks: Block[] = [];
  for (const paragraph of all(body, 'a:p')) {
    const properties = child(paragraph, 'a:pPr');
    const content = tidy(runsOf(paragraph, part));
    if (isBlank(content)) continue;
    const [only] = content;
    if (only?.kind === 'formula' && content.length === 1) {
      blocks.push({ kind: 'formula', tex: only.tex });
      continue;
    }
    const level = Math.min(8, Math.max(0, Number(properties?.attributes.lvl ?? 0) || 0));
    const numbered = child(properties, 'a:buAutoNum');
    const isItem =
      child(properties, 'a:buNone') === undefined &&
      (isList || numbered !== undefined || child(properties, 'a:buChar') !== undefined);
    if (isItem) {
      const start = Number(numbered?.attributes.startAt ?? 1) || 1;
      addItem(blocks, level, numbered !== undefined, start, { blocks: [{ kind: 'paragraph', content }] });
    } else blocks.push({ kind: 'paragraph', content });
  }
  // A placeholder with one paragraph is no list.
  const [only, second] = blocks;
  const [item, another] = only?.kind === 'list' && !only.ordered && !second ? only.items : [];
  return item?.blocks.length === 1 && !another ? item.blocks : blocks;
}

function runsOf(paragraph: Element, part: Part): Inline[] {
  return elements(paragraph).flatMap((element): Inline[] => {
    switch (element.name) {
      case 'a:r':
      case 'a:fld': {
        const properties = child(element, 'a:rPr');
        const text = textOf(contentOf(child(element, 'a:t')), styleOf(properties));
        const address = part.address(child(properties, 'a:hlinkClick')?.attributes['r:id']);
        return [address === undefined ? text : { kind: 'link', target: address, content: [text] }];
      }
      case 'a:br':
        return [{ kind: 'break' }];
      case 'a14:m':
      case 'm:oMathPara':
      case 'm:oMath':
        return (element.name === 'm:oMath' ? [element] : findAll(element, 'm:oMath')).map((formula) => ({
          kind: 'formula',
          tex: ommlToTex(formula),
          display: false,
        }));
      case 'mc:AlternateContent':
        return runsOf(child(element, 'mc:Choice') ?? element, part);
      default:
        return [];
    }
  });
}

function styleOf(properties: Element | undefined): Style {
  const { b, i, strike, baseline } = properties?.attributes ?? {};
  const shift = Number(baseline ?? 0);
  const face = attributeOf(properties, ['a:latin'], 'typeface') ?? '';
  return {
    ...(b === '1' || b === 'true' ? { bold: true } : {}),
    ...(i === '1' || i === 'true' ? { italic: true } : {}),
    ...(strike !== undefined && strike !== 'noStrike' ? { strike: true } : {}),
    ...(/mono|courier|consolas|menlo/i.test(face) ? { code: true } : {}),
    ...(shift === 0 ? {} : { shift: shift > 0 ? 'sup' : 'sub' }),
  };
}
