import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { decodeDataUri } from '../../document/guards/pictures.ts';
import { EngineError } from '../../runtime/engine.ts';
import { mathmlToTex } from '../math/mathml.ts';
import {
  addTable,
  type Block,
  type Cell,
  type Content,
  type Inline,
  type Item,
  isBlank,
  plain,
  type Style,
  textOf,
  tidy,
} from '../model.ts';
import { Pictures } from '../ooxml.ts';
import { contentOf, type Element, elements, find, findAll, type Node } from '../xml.ts';

const maxDepth = 600;

const blockNames = new Set(
  `address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr
  html legend li main menu ol p pre section summary table tbody td tfoot th thead tr ul caption`.split(/\s+/),
);
const skipped = new Set(
  `head script style template noscript nav iframe object embed audio video canvas svg select button textarea datalist rt rp meta link title base
  colgroup map`.split(/\s+/),
);

const styles: Record<string, Style> = {
  b: { bold: true },
  strong: { bold: true },
  i: { italic: true },
  em: { italic: true },
  cite: { italic: true },
  var: { italic: true },
  dfn: { italic: true },
  s: { strike: true },
  del: { strike: true },
  strike: { strike: true },
  code: { code: true },
  kbd: { code: true },
  samp: { code: true },
  tt: { code: true },
  sub: { shift: 'sub' },
  sup: { shift: 'sup' },
};

/** What several pages of a book share. */
export interface Book {
  pictures: Pictures;
  notes: Map<string, Block[]>;
  /** Returns the picture at an address. */
  picture(address: string): Buffer | undefined;
  /** Returns the name of the place that an address points at. */
  place(address: string): string;
}

/** Reads a page that was made safe. */
export function readHtml(text: string): Content {
  const root = parseHtml(text);
  const title = contentOf(find(root, 'title')).replaceAll(/\s+/g, ' ').trim();
  const book: Book = {
    pictures: new Pictures(),
    notes: new Map(),
    picture: (address) => (/^\s*data:/i.test(address) ? decodeDataUri(address) : undefined),
    place: (address) => (address.startsWith('#') ? address.slice(1) : ''),
  };
  const blocks = readPage(root, book);
  return { ...(title === '' ? {} : { title }), blocks, notes: book.notes, pictures: book.pictures.list };
}

/** Parses HTML as browsers do. */
export function parseHtml(text: string): Element {
  const root: Element = { name: '', attributes: {}, children: [] };
  const open: [DefaultTreeAdapterTypes.ParentNode, Element, number][] = [[parse(text), root, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [from, to, depth] = next;
    if (depth > maxDepth) throw new EngineError(`The page nests elements more than ${maxDepth} levels deep.`);
    for (const node of from.childNodes) {
      if ('value' in node) to.children.push(node.value);
      if (!('tagName' in node)) continue;
      const attributes = Object.fromEntries(
        node.attrs.map(({ name, prefix, value }) => [prefix ? `${prefix}:${name}` : name, value]),
      );
      const element: Element = { name: node.tagName, attributes, children: [] };
      to.children.push(element);
      open.push(['content' in node ? node.content : node, element, depth + 1]);
    }
  }
  return root;
}

/** Reads the blocks of a page. Its footnotes go to those of the book. */
export function readPage(root: Element, book: Book): Block[] {
  return new PageReader(book).read(root);
}

class PageReader {
  readonly #book: Book;
  readonly #containing = new Map<Element, boolean>();
  /** Elements that are footnotes: they are shown at the end. */
  readonly #notes = new Set<Element>();

  constructor(book: Book) {
    this.#book = book;
  }

  read(root: Element): Block[] {
    this.#findNotes(root, false);
    const blocks = this.#flow([root], plain);
    for (const note of this.#notes) {
      const content = this.#flow(note.children, plain);
      this.#book.notes.set(this.#book.place(`#${note.attributes.id}`), content.map(withoutReturn));
    }
    return blocks;
  }

  #findNotes(parent: Element, inList: boolean): void {
    for (const element of elements(parent)) {
      const { id, role = '', class: classes = '' } = element.attributes;
      const type = element.attributes['epub:type'] ?? '';
      const isNote = /\b(?:footnote|endnote|rearnote)\b/.test(type) || /^doc-(?:footnote|endnote)$/.test(role);
      if (id !== undefined && (isNote || (inList && element.name === 'li'))) this.#notes.add(element);
      else
        this.#findNotes(
          element,
          inList ||
            role === 'doc-endnotes' ||
            /\b(?:footnotes|endnotes)\b/.test(type) ||
            /(?:^|\s)footnotes(?:\s|$)/.test(classes),
        );
    }
  }

  #flow(nodes: readonly Node[], style: Style): Block[] {
    const blocks: Block[] = [];
    let line: Inline[] = [];
    const flush = () => {
      const content = spaced(tidy(line));
      line = [];
      if (isBlank(content)) return;
      const [only, second] = content;
      if (only?.kind === 'formula' && only.display && !second) blocks.push({ kind: 'formula', tex: only.tex });
      else blocks.push({ kind: 'paragraph', content });
    };
    for (const node of nodes) {
      if (typeof node === 'string') line.push(textOf(node, style));
      else if (!this.#isHidden(node)) {
        if (this.#isBlock(node)) {
          flush();
          blocks.push(...this.#block(node, style));
        } else line.push(...this.#inline(node, style));
      }
    }
    flush();
    return blocks;
  }

  #isHidden(element: Element): boolean {
    const { hidden, style = '' } = element.attributes;
    return (
      skipped.has(element.name) ||
      this.#notes.has(element) ||
      hidden !== undefined ||
      /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style)
    );
  }

  #isBlock(element: Element): boolean {
    if (blockNames.has(element.name)) return true;
    const known = this.#containing.get(element);
    if (known !== undefined) return known;
    const contains = elements(element).some((inner) => this.#isBlock(inner));
    this.#containing.set(element, contains);
    return contains;
  }

  #block(element: Element, style: Style): Block[] {
    const { name, children } = element;
    switch (name) {
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6': {
        const content = spaced(tidy(children.flatMap((node) => this.#inlineOf(node, plain))));
        return isBlank(content) ? [] : [{ kind: 'heading', level: Number(name[1]), content }];
      }
      case 'ul':
      case 'ol':
      case 'menu':
        return this.#list(element, style);
      case 'dl':
        return this.#definitions(element, style);
      case 'table':
        return this.#table(element, style);
      case 'pre':
        return [codeOf(element)];
      case 'blockquote':
        return [{ kind: 'quote', blocks: this.#flow(children, style) }];
      case 'hr':
        return [{ kind: 'rule' }];
      case 'summary':
      case 'legend':
      case 'dt':
        return this.#flow(children, { ...style, bold: true });
      default:
        return this.#flow(children, { ...style, ...styles[name] });
    }
  }

  #list(list: Element, style: Style): Block[] {
    const items: Item[] = [];
    for (const element of elements(list)) {
      if (this.#isHidden(element)) continue;
      if (element.name === 'li') {
        const box = findAll(element, 'input').find(({ attributes }) => attributes.type === 'checkbox');
        const blocks = this.#flow(element.children, style);
        if (blocks.length > 0)
          items.push({ blocks, ...(box ? { checked: box.attributes.checked !== undefined } : {}) });
      } else {
        // A list in a list, which is not allowed but common, belongs to the item before it.
        const blocks = this.#flow([element], style);
        const last = items.at(-1);
        if (last) last.blocks.push(...blocks);
        else if (blocks.length > 0) items.push({ blocks });
      }
    }
    const start = Number.parseInt(list.attributes.start ?? '1', 10);
    const ordered = list.name === 'ol';
    return items.length === 0 ? [] : [{ kind: 'list', ordered, start: start >= 0 && start < 1e9 ? start : 1, items }];
  }

  #definitions(list: Element, style: Style): Block[] {
    const items: Item[] = [];
    const take = (parent: Element) => {
      for (const element of elements(parent)) {
        if (element.name === 'dt') items.push({ blocks: this.#block(element, style) });
        else if (element.name === 'dd') {
          const blocks = this.#flow(element.children, style);
          const last = items.at(-1);
          if (last) last.blocks.push(...blocks);
          else items.push({ blocks });
        } else if (element.name === 'div') take(element);
      }
    };
    take(list);
    return items.length === 0 ? [] : [{ kind: 'list', ordered: false, start: 1, items }];
  }

  #table(table: Element, style: Style): Block[] {
    const blocks: Block[] = [];
    const rows: Cell[][] = [];
    let headerRows = 0;
    const take = (parent: Element, isHead: boolean) => {
      for (const element of elements(parent)) {
        if (this.#isHidden(element)) continue;
        if (element.name === 'caption') blocks.push(...this.#flow(element.children, style));
        else if (element.name === 'tr') {
          const cells = elements(element).filter(({ name }) => name === 'td' || name === 'th');
          if (headerRows === rows.length && (isHead || (cells.length > 0 && cells.every(({ name }) => name === 'th'))))
            headerRows += 1;
          rows.push(cells.map((cell) => this.#cell(cell, isHead || cell.name === 'th')));
        } else if (/^t(?:head|body|foot)$/.test(element.name)) take(element, element.name === 'thead');
      }
    };
    take(table, false);
    const isLayout =
      table.attributes.role === 'presentation' ||
      rows.every((cells) => cells.length <= 1) ||
      rows.some((cells) =>
        cells.some((cell) => cell.blocks.some(({ kind }) => kind === 'table' || kind === 'heading')),
      );
    if (isLayout) blocks.push(...rows.flatMap((cells) => cells.flatMap((cell) => cell.blocks)));
    else addTable(blocks, rows, headerRows);
    return blocks;
  }

  #cell(cell: Element, isHeader: boolean): Cell {
    const span = (text = '1') => Math.min(1_000, Math.max(1, Number.parseInt(text, 10) || 1));
    const blocks = this.#flow(cell.children, plain);
    const [only, second] = blocks;
    // A header is bold by its place.
    if (isHeader && only?.kind === 'paragraph' && !second)
      only.content = only.content.map((inline) =>
        inline.kind === 'text' ? { ...inline, style: { ...inline.style, bold: false } } : inline,
      );
    return { blocks, columns: span(cell.attributes.colspan), rows: span(cell.attributes.rowspan) };
  }

  #inlineOf(node: Node, style: Style): Inline[] {
    if (typeof node === 'string') return [textOf(node, style)];
    return this.#isHidden(node) ? [] : this.#inline(node, style);
  }

  #inline(element: Element, style: Style): Inline[] {
    const { name, attributes } = element;
    const inside = (inner: Style) => element.children.flatMap((node) => this.#inlineOf(node, inner));
    switch (name) {
      case 'br':
        return [{ kind: 'break' }];
      case 'wbr':
      case 'input':
        return [];
      case 'img': {
        const source = attributes.src ?? '';
        const picture = this.#book.pictures.add(this.#book.picture(source));
        const address = /^https?:/i.test(source) ? { source } : {};
        return [{ kind: 'picture', picture, alt: attributes.alt ?? '', ...address }];
      }
      case 'a':
        return this.#link(element, style);
      case 'math':
        return [{ kind: 'formula', tex: mathmlToTex(element), display: attributes.display === 'block' }];
      case 'q':
        return [textOf('“', style), ...inside(style), textOf('”', style)];
      case 'code': {
        const text = contentOf(element);
        return [textOf(text, { ...style, code: true })];
      }
      default:
        return inside({ ...style, ...styles[name] });
    }
  }

  #link(element: Element, style: Style): Inline[] {
    const { href, role = '', class: classes = '' } = element.attributes;
    const isNote =
      /\bnoteref\b/.test(element.attributes['epub:type'] ?? '') ||
      role === 'doc-noteref' ||
      /\bfootnote-ref\b/.test(classes);
    const place = href === undefined ? '' : this.#book.place(href);
    if (isNote && place !== '') return [{ kind: 'note', id: place }];
    const content = element.children.flatMap((node) => this.#inlineOf(node, style));
    return href === undefined || role === 'doc-backlink'
      ? role === 'doc-backlink'
        ? []
        : content
      : [{ kind: 'link', target: href, content }];
  }
}

/** Returns a block of a footnote without the arrow that leads back. */
function withoutReturn(block: Block): Block {
  if (block.kind !== 'paragraph') return block;
  const content = block.content.filter(
    (inline) =>
      !(
        inline.kind === 'link' &&
        /^(?:[↩↑^\s]|\ufe0e)*$/u.test(inline.content.map((each) => (each.kind === 'text' ? each.text : 'x')).join(''))
      ),
  );
  return { ...block, content };
}

function codeOf(pre: Element): Block {
  const code = find(pre, 'code');
  const classes = `${pre.attributes.class ?? ''} ${code?.attributes.class ?? ''}`;
  const language =
    /\b(?:language|lang|highlight-source)-([\w+#.-]{1,30})/.exec(classes)?.[1] ??
    /\bsourceCode ([\w+#.-]{1,30})/.exec(classes)?.[1];
  return { kind: 'code', text: preText(pre), ...(language === undefined ? {} : { language }) };
}

function preText(node: Node): string {
  if (typeof node === 'string') return node;
  return node.name === 'br' ? '\n' : node.children.map(preText).join('');
}

/** Joins white space, as browsers do: also across the borders of styles. */
function spaced(content: Inline[]): Inline[] {
  let isSpace = true;
  const joined = content.map((inline): Inline => {
    if (inline.kind === 'break') isSpace = true;
    else if (inline.kind === 'text') {
      let text = inline.text.replaceAll(/[ \t\n\r\f]+/g, ' ');
      if (isSpace && text.startsWith(' ')) text = text.slice(1);
      if (text !== '') isSpace = text.endsWith(' ');
      return { ...inline, text };
    } else if (inline.kind === 'link') {
      const inner = spaced(inline.content);
      isSpace = false;
      return { ...inline, content: inner };
    } else isSpace = false;
    return inline;
  });
  return tidy(joined.filter((inline) => inline.kind !== 'text' || inline.text !== ''));
}
