/** The content of a document, as readers find it and writers express it. */
export interface Content {
  title?: string;
  blocks: Block[];
  /** Footnotes by identifier. */
  notes: Map<string, Block[]>;
  pictures: Picture[];
  /** Sizes of the pages in points, if positions are known. */
  pages?: PageSize[];
}

export interface PageSize {
  page: number;
  width: number;
  height: number;
}

export interface Picture {
  bytes: Buffer;
  /** Extension, detected from the content. */
  format: string;
}

/** Left, top, right and bottom in points from the top left corner of the page. */
export type Box = [number, number, number, number];

export type Block = {
  /** The page, slide or sheet, from 1. */
  page?: number;
  box?: Box;
} & (
  | { kind: 'heading'; level: number; content: Inline[] }
  | { kind: 'paragraph'; content: Inline[] }
  | { kind: 'list'; ordered: boolean; start: number; items: Item[] }
  | Table
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'code'; text: string; language?: string }
  | { kind: 'formula'; tex: string }
  | { kind: 'rule' }
  | { kind: 'marker'; unit: Unit; number: number; name?: string }
);

/** What a marker starts. */
export type Unit = 'page' | 'slide' | 'sheet';

export interface Item {
  blocks: Block[];
  checked?: boolean;
}

export interface Table {
  kind: 'table';
  rows: Cell[][];
  /** Number of rows at the top that are a header. */
  headerRows: number;
}

export interface Cell {
  blocks: Block[];
  columns: number;
  rows: number;
}

export interface Style {
  bold?: boolean;
  italic?: boolean;
  strike?: boolean;
  code?: boolean;
  /** Below or above the line. */
  shift?: 'sub' | 'sup';
}

export type Inline =
  | { kind: 'text'; text: string; style: Style }
  | { kind: 'link'; target: string; content: Inline[] }
  | { kind: 'picture'; picture: number | undefined; alt: string; source?: string }
  | { kind: 'formula'; tex: string; display: boolean }
  | { kind: 'note'; id: string }
  | { kind: 'break' };

export const plain: Style = {};

export function textOf(text: string, style: Style = plain): Inline {
  return { kind: 'text', text, style };
}

/** Returns the text of inline content, without markup. */
export function plainText(content: readonly Inline[]): string {
  return content
    .map((inline) => {
      switch (inline.kind) {
        case 'text':
          return inline.text;
        case 'link':
          return plainText(inline.content);
        case 'picture':
          return inline.alt;
        case 'formula':
          return inline.tex;
        case 'break':
          return '\n';
        default:
          return '';
      }
    })
    .join('');
}

/** Returns whether there is nothing to see. */
export function isBlank(content: readonly Inline[]): boolean {
  return content.every(
    (inline) =>
      inline.kind === 'break' ||
      (inline.kind === 'text' && inline.text.trim() === '') ||
      (inline.kind === 'link' && isBlank(inline.content)),
  );
}

export function paragraph(text: string): Block {
  return { kind: 'paragraph', content: [textOf(text)] };
}

/** Adds an item to the list at the end of `blocks`, or to one of its nested lists. Level 0 is the outermost. */
export function addItem(blocks: Block[], level: number, ordered: boolean, start: number, item: Item): void {
  const last = blocks.at(-1);
  if (level > 0) {
    const inner = last?.kind === 'list' ? last.items.at(-1) : undefined;
    if (inner) {
      addItem(inner.blocks, level - 1, ordered, start, item);
      return;
    }
  }
  if (last?.kind === 'list' && last.ordered === ordered) last.items.push(item);
  else blocks.push({ kind: 'list', ordered, start, items: [item] });
}

/** Appends a table, or the content of one with a single cell, which only draws a frame. */
export function addTable(blocks: Block[], rows: Cell[][], headerRows: number): void {
  const filled = rows.filter((cells) => cells.length > 0);
  const [only, second] = filled.flat();
  if (only && !second) blocks.push(...only.blocks);
  else if (filled.flat().some((cell) => cell.blocks.length > 0))
    blocks.push({ kind: 'table', rows: filled.length === rows.length ? rows : filled, headerRows });
}

/** Joins the runs of a paragraph that look the same, and removes the space at its ends. */
export function tidy(content: Inline[]): Inline[] {
  const joined: Inline[] = [];
  for (const inline of content) {
    const last = joined.at(-1);
    if (inline.kind === 'text' && last?.kind === 'text' && isAlike(inline.style, last.style)) {
      joined[joined.length - 1] = textOf(last.text + inline.text, last.style);
    } else if (inline.kind === 'link' && last?.kind === 'link' && last.target === inline.target) {
      joined[joined.length - 1] = { ...last, content: tidy([...last.content, ...inline.content]) };
    } else if (inline.kind !== 'text' || inline.text !== '') joined.push(inline);
  }
  while (joined.at(-1)?.kind === 'break') joined.pop();
  while (joined[0]?.kind === 'break') joined.shift();
  return joined;
}

export function isAlike(left: Style, right: Style): boolean {
  // Code is shown in one style, whatever its colours were.
  if (left.code && right.code) return true;
  return (
    Boolean(left.bold) === Boolean(right.bold) &&
    Boolean(left.italic) === Boolean(right.italic) &&
    Boolean(left.strike) === Boolean(right.strike) &&
    Boolean(left.code) === Boolean(right.code) &&
    left.shift === right.shift
  );
}
