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
import { Numbering } from './numbering.ts';

/** A paragraph style, with what it inherits. */
interface ParagraphStyle {
  name: string;
  level: number | undefined;
  numbering: Element | undefined;
  style: Style;
}

const monospaced = /mono|courier|consolas|menlo|lucida console/i;

/** Reads a document of Word. */
export function readDocx(parts: Parts): Content {
  return new DocxReader(parts).read();
}

class DocxReader {
  readonly #parts: Parts;
  readonly #main: Part;
  readonly #pictures = new Pictures();
  readonly #notes = new Map<string, Block[]>();
  readonly #styles = new Map<string, Element>();
  readonly #known = new Map<string, ParagraphStyle>();
  readonly #numbering: Numbering;
  #usual = '';
  #page = 1;
  #part: Part;
  /** Paragraphs of text boxes that are anchored in the current paragraph. */
  #boxes: Element[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#main = mainPart(parts);
    this.#part = this.#main;
    for (const style of all(child(this.#main.ofType('styles')?.root, 'w:styles'), 'w:style')) {
      this.#styles.set(style.attributes['w:styleId'] ?? '', style);
      if (style.attributes['w:default'] === '1' && style.attributes['w:type'] === 'paragraph')
        this.#usual = style.attributes['w:styleId'] ?? '';
    }
    this.#numbering = new Numbering(child(this.#main.ofType('numbering')?.root, 'w:numbering'));
  }

  read(): Content {
    const body = find(this.#main.root, 'w:body');
    const blocks = this.#blocksOf(body);
    for (const kind of ['footnote', 'endnote']) {
      const part = this.#main.ofType(`${kind}s`);
      if (!part) continue;
      this.#part = part;
      for (const note of findAll(part.root, `w:${kind}`))
        if (note.attributes['w:type'] === undefined || note.attributes['w:type'] === 'normal')
          this.#notes.set(`${kind}-${note.attributes['w:id']}`, this.#blocksOf(note));
    }
    return { ...titleOf(this.#parts), blocks, notes: this.#notes, pictures: this.#pictures.list };
  }

  #blocksOf(parent: Element | undefined): Block[] {
    const blocks: Block[] = [];
    this.#addAll(parent, blocks);
    return blocks;
  }

  #addAll(parent: Element | undefined, blocks: Block[]): void {
    for (const element of elements(parent))
      switch (element.name) {
        case 'w:p':
          this.#addParagraph(element, blocks);
          break;
        case 'w:tbl':
          this.#addTable(element, blocks);
          break;
        case 'w:sdt':
          this.#addAll(child(element, 'w:sdtContent'), blocks);
          break;
        case 'w:ins':
        case 'w:moveTo':
        case 'w:customXml':
        case 'w:smartTag':
          this.#addAll(element, blocks);
          break;
        default:
      }
  }

  #addParagraph(element: Element, blocks: Block[]): void {
    const page = this.#page;
    const properties = child(element, 'w:pPr');
    const style = this.#styleOf(attributeOf(properties, ['w:pStyle'], 'w:val') ?? this.#usual);
    const boxes = this.#boxes;
    this.#boxes = [];
    const content = tidy(new Runs(this.#context(), style.style).read(element));
    // A page starts with the first paragraph that begins on it.
    if (this.#page !== page && (isBlank(content) || startsWithBreak(element))) mark(blocks, this.#page);
    this.#addText(element, properties, style, content, blocks);
    for (const box of this.#boxes) this.#addAll(box, blocks);
    this.#boxes = boxes;
    if (this.#page !== page && !isBlank(content) && !startsWithBreak(element)) mark(blocks, this.#page);
  }

  #context(): RunContext {
    return {
      part: this.#part,
      pictures: this.#pictures,
      styleOf: (id) => this.#styleOf(id).style,
      onPage: () => {
        this.#page += 1;
      },
      onBox: (box) => {
        this.#boxes.push(box);
      },
    };
  }

  #addText(
    element: Element,
    properties: Element | undefined,
    style: ParagraphStyle,
    content: Inline[],
    blocks: Block[],
  ): void {
    if (isBlank(content)) {
      const last = blocks.at(-1);
      if (last?.kind === 'code') last.text += '\n';
      return;
    }
    const [only] = content;
    if (only?.kind === 'formula' && content.every((inline) => inline.kind === 'formula' || isBlank([inline]))) {
      for (const inline of content) if (inline.kind === 'formula') blocks.push({ kind: 'formula', tex: inline.tex });
      return;
    }
    const outline = attributeOf(properties, ['w:outlineLvl'], 'w:val');
    const level = outline === undefined ? style.level : Number(outline) < 9 ? Number(outline) + 1 : undefined;
    const numbering = this.#numbering.next(child(properties, 'w:numPr') ?? style.numbering);
    if (level !== undefined) {
      const number = numbering?.label ? [textOf(`${numbering.label} `), ...content] : content;
      blocks.push({ kind: 'heading', level: Math.min(6, level), content: withoutBold(number) });
    } else if (isCode(style.name)) addCode(blocks, contentOf(textElement(element)));
    else if (numbering?.kind === 'none') {
      const last = lastItem(blocks, numbering.level);
      if (last) last.push({ kind: 'paragraph', content });
      else blocks.push({ kind: 'paragraph', content });
    } else if (numbering) {
      const item = checkbox(content);
      addItem(blocks, numbering.level, numbering.kind === 'ordered', numbering.number, item);
    } else if (/^(?:intense )?quote|^block text|^quotations/i.test(style.name)) {
      const last = blocks.at(-1);
      if (last?.kind === 'quote') last.blocks.push({ kind: 'paragraph', content });
      else blocks.push({ kind: 'quote', blocks: [{ kind: 'paragraph', content }] });
    } else blocks.push({ kind: 'paragraph', content });
  }

  #addTable(table: Element, blocks: Block[]): void {
    const rows: Cell[][] = [];
    /** Cells that go on in the next row, by column. */
    let above = new Map<number, Cell>();
    let headerRows = 0;
    for (const row of rowsOf(table)) {
      const cells: Cell[] = [];
      const reaching = new Map<number, Cell>();
      const properties = child(row, 'w:trPr');
      let column = Number(attributeOf(properties, ['w:gridBefore'], 'w:val') ?? 0);
      if (isOn(child(properties, 'w:tblHeader')) && headerRows === rows.length) headerRows += 1;
      for (const element of cellsOf(row)) {
        const format = child(element, 'w:tcPr');
        const columns = Math.min(1_000, Math.max(1, Number(attributeOf(format, ['w:gridSpan'], 'w:val') ?? 1) || 1));
        const merge = child(format, 'w:vMerge');
        const goesOn = merge && merge.attributes['w:val'] !== 'restart' ? above.get(column) : undefined;
        const cell = goesOn ?? { blocks: this.#blocksOf(element), columns, rows: 1 };
        if (goesOn) goesOn.rows += 1;
        else cells.push(cell);
        if (merge) reaching.set(column, cell);
        column += columns;
      }
      above = reaching;
      rows.push(cells);
    }
    addTable(blocks, rows, headerRows);
  }

  #styleOf(id: string): ParagraphStyle {
    const known = this.#known.get(id);
    if (known) return known;
    const style: ParagraphStyle = { name: '', level: undefined, numbering: undefined, style: {} };
    // Set first, so that a style that is based on itself ends.
    this.#known.set(id, style);
    const element = this.#styles.get(id);
    if (!element) return style;
    const base = attributeOf(element, ['w:basedOn'], 'w:val');
    if (base !== undefined) Object.assign(style, structuredClone({ ...this.#styleOf(base), numbering: undefined }));
    if (base !== undefined) style.numbering = this.#styleOf(base).numbering;
    const name = attributeOf(element, ['w:name'], 'w:val') ?? '';
    style.name = isCode(style.name) ? style.name : name;
    const outline = attributeOf(element, ['w:pPr', 'w:outlineLvl'], 'w:val');
    const heading = /^heading (\d)$/i.exec(name)?.[1];
    if (outline !== undefined) style.level = Number(outline) < 9 ? Number(outline) + 1 : undefined;
    else if (heading !== undefined) style.level = Number(heading);
    else if (/^title$/i.test(name)) style.level = 1;
    style.numbering = child(element, 'w:pPr', 'w:numPr') ?? style.numbering;
    Object.assign(style.style, runStyle(child(element, 'w:rPr')));
    if (style.level !== undefined) style.style = {};
    if (isCode(name) || /verbatim|source text|code char|^html code/i.test(name)) style.style.code = true;
    return style;
  }
}

function isCode(name: string): boolean {
  return /source ?code|preformatted|^code(?: ?block)?$|^plain text$|^macro text$/i.test(name);
}

function rowsOf(table: Element): Element[] {
  return elements(table).flatMap((element) =>
    element.name === 'w:tr'
      ? [element]
      : /^w:(?:sdt|sdtContent|ins|customXml)$/.test(element.name)
        ? rowsOf(element)
        : [],
  );
}

function cellsOf(row: Element): Element[] {
  return elements(row).flatMap((element) =>
    element.name === 'w:tc'
      ? [element]
      : /^w:(?:sdt|sdtContent|ins|customXml)$/.test(element.name)
        ? cellsOf(element)
        : [],
  );
}

/** Returns the paragraphs of the last item at a level. */
function lastItem(blocks: Block[], level: number): Block[] | undefined {
  const last = blocks.at(-1);
  const item = last?.kind === 'list' ? last.items.at(-1) : undefined;
  if (!item) return undefined;
  return (level > 0 ? lastItem(item.blocks, level - 1) : undefined) ?? item.blocks;
}

function addCode(blocks: Block[], text: string): void {
  const last = blocks.at(-1);
  if (last?.kind === 'code') last.text += `\n${text}`;
  else blocks.push({ kind: 'code', text });
}

/** Returns a copy of a paragraph with its text only: tabs and line breaks as characters. */
function textElement(element: Element): Element {
  const children = element.children.flatMap((node): Element['children'] => {
    if (typeof node === 'string') return element.name === 'w:t' ? [node] : [];
    if (node.name === 'w:br' || node.name === 'w:cr') return ['\n'];
    if (node.name === 'w:tab') return ['\t'];
    return /^w:(?:pPr|rPr|del|instrText)$/.test(node.name) ? [] : [textElement(node)];
  });
  return { ...element, children };
}

function startsWithBreak(paragraph: Element): boolean {
  const run = findAll(paragraph, 'w:r').find((each) => elements(each).some(({ name }) => name !== 'w:rPr'));
  const first = elements(run).find(({ name }) => name !== 'w:rPr');
  return first?.name === 'w:lastRenderedPageBreak' || first?.attributes['w:type'] === 'page';
}

function mark(blocks: Block[], number: number): void {
  blocks.push({ kind: 'marker', unit: 'page', number });
}

function checkbox(content: Inline[]): { blocks: Block[]; checked?: boolean } {
  const [first, ...rest] = content;
  const sign = first?.kind === 'text' ? /^([☐☒☑])\s*/.exec(first.text) : undefined;
  if (first?.kind !== 'text' || !sign) return { blocks: [{ kind: 'paragraph', content }] };
  const text = { ...first, text: first.text.slice(sign[0].length) };
  return { blocks: [{ kind: 'paragraph', content: [text, ...rest] }], checked: sign[1] !== '☐' };
}

/** Headings are bold by their level. */
function withoutBold(content: Inline[]): Inline[] {
  return content.map((inline) => {
    if (inline.kind === 'link') return { ...inline, content: withoutBold(inline.content) };
    return inline.kind === 'text' ? { ...inline, style: { ...inline.style, bold: false } } : inline;
  });
}

function isOn(element: Element | undefined): boolean {
  return element !== undefined && !/^(?:0|false|off|none)$/.test(element.attributes['w:val'] ?? '1');
}

function runStyle(properties: Element | undefined): Style {
  const style: Style = {};
  for (const element of elements(properties))
    switch (element.name) {
      case 'w:b':
        style.bold = isOn(element);
        break;
      case 'w:i':
        style.italic = isOn(element);
        break;
      case 'w:strike':
      case 'w:dstrike':
        style.strike = isOn(element);
        break;
      case 'w:vertAlign': {
        const shift = element.attributes['w:val'];
        if (shift === 'subscript') style.shift = 'sub';
        else if (shift === 'superscript') style.shift = 'sup';
        break;
      }
      case 'w:rFonts':
        if (monospaced.test(element.attributes['w:ascii'] ?? '')) style.code = true;
        break;
      default:
    }
  return style;
}

interface RunContext {
  part: Part;
  pictures: Pictures;
  styleOf(id: string): Style;
  onPage(): void;
  onBox(box: Element): void;
}

/** Reads what is in a paragraph. */
class Runs {
  readonly #context: RunContext;
  readonly #base: Style;
  /** Fields that have begun: their instructions, and where their result starts. */
  readonly #fields: { instruction: string; at: number | undefined }[] = [];
  readonly #content: Inline[] = [];

  constructor(context: RunContext, base: Style) {
    this.#context = context;
    this.#base = base;
  }

  read(paragraph: Element): Inline[] {
    this.#inside(paragraph);
    return this.#content;
  }

  #inside(parent: Element): void {
    for (const element of elements(parent)) this.#take(element);
  }

  #take(element: Element): void {
    switch (element.name) {
      case 'w:r':
        this.#run(element);
        break;
      case 'w:hyperlink': {
        const address = this.#context.part.address(element.attributes['r:id']);
        this.#link(address, () => this.#inside(element));
        break;
      }
      case 'w:fldSimple':
        this.#link(addressIn(element.attributes['w:instr'] ?? ''), () => this.#inside(element));
        break;
      case 'm:oMathPara':
        for (const formula of all(element, 'm:oMath'))
          this.#content.push({ kind: 'formula', tex: ommlToTex(formula), display: true });
        break;
      case 'm:oMath':
        this.#content.push({ kind: 'formula', tex: ommlToTex(element), display: false });
        break;
      case 'w:del':
      case 'w:moveFrom':
      case 'w:pPr':
        break;
      case 'mc:AlternateContent':
        this.#inside(child(element, 'mc:Choice') ?? child(element, 'mc:Fallback') ?? element);
        break;
      default:
        this.#inside(element);
    }
  }

  #link(address: string | undefined, inner: () => void): void {
    const start = this.#content.length;
    inner();
    if (address === undefined) return;
    const content = this.#content.splice(start);
    if (content.length > 0) this.#content.push({ kind: 'link', target: address, content });
  }

  #run(run: Element): void {
    const properties = child(run, 'w:rPr');
    if (isOn(child(properties, 'w:vanish'))) return;
    const named = attributeOf(properties, ['w:rStyle'], 'w:val');
    const style = {
      ...this.#base,
      ...(named === undefined ? {} : this.#context.styleOf(named)),
      ...runStyle(properties),
    };
    for (const element of elements(run)) this.#piece(element, style);
  }

  #piece(element: Element, style: Style): void {
    const { attributes } = element;
    const say = (text: string) => this.#content.push(textOf(text, style));
    switch (element.name) {
      case 'w:t':
        say(contentOf(element));
        break;
      case 'w:tab':
        say('\t');
        break;
      case 'w:noBreakHyphen':
        say('-');
        break;
      case 'w:sym':
        say(symbolOf(attributes['w:char'] ?? ''));
        break;
      case 'w:br':
        if (attributes['w:type'] === 'page') this.#context.onPage();
        else if (attributes['w:type'] !== 'column') this.#content.push({ kind: 'break' });
        break;
      case 'w:cr':
        this.#content.push({ kind: 'break' });
        break;
      case 'w:lastRenderedPageBreak':
        this.#context.onPage();
        break;
      case 'w:footnoteReference':
      case 'w:endnoteReference':
        this.#content.push({ kind: 'note', id: `${element.name.slice(2, -9)}-${attributes['w:id']}` });
        break;
      case 'w:fldChar':
        this.#field(attributes['w:fldCharType']);
        break;
      case 'w:instrText': {
        const field = this.#fields.at(-1);
        if (field && field.instruction.length < 10_000) field.instruction += contentOf(element);
        break;
      }
      case 'w:drawing':
      case 'w:pict':
      case 'w:object':
        this.#drawing(element);
        break;
      case 'mc:AlternateContent':
        for (const inner of elements(child(element, 'mc:Choice') ?? child(element, 'mc:Fallback')))
          this.#piece(inner, style);
        break;
      case 'w:ruby':
        this.#inside(child(element, 'w:rubyBase') ?? element);
        break;
      default:
    }
  }

  #field(type: string | undefined): void {
    const field = this.#fields.at(-1);
    if (type === 'begin') this.#fields.push({ instruction: '', at: undefined });
    else if (type === 'separate' && field) field.at = this.#content.length;
    else if (type === 'end' && field) {
      this.#fields.pop();
      const address = addressIn(field.instruction);
      if (address === undefined || field.at === undefined) return;
      const content = this.#content.splice(field.at);
      if (content.length > 0) this.#content.push({ kind: 'link', target: address, content });
    }
  }

  #drawing(drawing: Element): void {
    const boxes = findAll(drawing, 'w:txbxContent');
    for (const box of boxes) this.#context.onBox(box);
    const described = find(drawing, 'wp:docPr') ?? find(drawing, 'v:shape');
    const alt = described?.attributes.descr ?? described?.attributes.alt ?? described?.attributes.title ?? '';
    const ids = [
      ...findAll(drawing, 'a:blip').map(({ attributes }) => attributes['r:embed']),
      ...findAll(drawing, 'v:imagedata').map(({ attributes }) => attributes['r:id']),
    ];
    for (const id of ids)
      this.#content.push({ kind: 'picture', picture: this.#context.pictures.add(this.#context.part.bytes(id)), alt });
  }
}

function addressIn(instruction: string): string | undefined {
  return /^\s*HYPERLINK\s+"([^"]+)"/i.exec(instruction)?.[1];
}

/** Check marks and bullets of symbol fonts; others are unknown. */
const signs: Record<string, string> = {
  F0FE: '☒',
  F0FC: '✓',
  F0A8: '☐',
  F06F: '☐',
  F052: '☑',
  F0E0: '→',
  F0B7: '•',
  F04A: '☺',
};

function symbolOf(code: string): string {
  return signs[code.toUpperCase()] ?? '';
}
