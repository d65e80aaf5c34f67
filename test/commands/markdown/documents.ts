/** A document of known structure, before it is printed. */
export interface Source {
  kind: Kind;
  seed: number;
  /** Text in columns, under the title. */
  columns: number;
  font: 'serif' | 'sans';
  size: number;
  leading: number;
  blocks: SourceBlock[];
}

export type SourceBlock =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'list'; ordered: boolean; items: SourceItem[] }
  | { kind: 'lines'; look: 'code' | 'form' | 'contents' | 'index' | 'address' | 'terms'; lines: [string, string][] }
  | SourceTable;

export interface SourceItem {
  text: string;
  items: string[];
}

export interface SourceTable {
  kind: 'table';
  rows: SourceCell[][];
  /** Width of each column, in relation to the others. */
  weights: number[];
  alignments: ('left' | 'right' | 'center')[];
  look: TableLook;
}

export interface SourceCell {
  text: string;
  columns: number;
  rows: number;
}

export interface TableLook {
  /** Where lines are: around each cell, under each row, above, below and under the head, under the head, nowhere. */
  rules: 'grid' | 'rows' | 'book' | 'head' | 'none';
  /** Every other row has a background. */
  isStriped: boolean;
  hasFilledHead: boolean;
  hasBoldHead: boolean;
  /** Points between text and the edges of cells. */
  padding: [x: number, y: number];
  /** Part of the text's width. */
  width: number;
  /** Size of its text, in relation to other text. */
  scale: number;
}

/** Documents with tables, by what makes those hard to find. */
export const tableKinds = [
  'ruled',
  'striped',
  'book style',
  'head rule',
  'rules between rows',
  'borderless',
  'numeric',
  'several lines',
  'empty cells',
  'spanning',
  'two columns',
  'page break',
  'narrow gaps',
] as const;

/** Documents without tables, which have something that looks like one. */
export const plainKinds = [
  'prose in columns',
  'lists',
  'form',
  'code',
  'contents',
  'index',
  'address',
  'terms',
] as const;

export type Kind = (typeof tableKinds)[number] | (typeof plainKinds)[number];

/** Returns numbers between 0 and 1 that are the same for a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const words =
  'annual board budget carrier change city client coastal committee contract country customer daily delivery demand department district early eastern energy estimate export factory field figure final forest garden general growth harbour heating history household import income index industry inland inspection island labour large later license local machine maintenance market material member method minor model monthly mountain network northern office operation order outlook output partner period plan plant point policy port price process produce product program project public quality quarter railway range rate record region report reserve result return review river road safety sample schedule season sector service share short small source southern staff standard station storage street summary supply survey target total tower trade traffic transport value vessel village volume warehouse water weekly western winter worker yearly'.split(
    ' ',
  );

class Writer {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = randomOf(seed);
  }

  between(least: number, most: number): number {
    return least + (most - least) * this.random();
  }

  count(least: number, most: number): number {
    return Math.floor(this.between(least, most + 1));
  }

  one<Kind>(list: readonly Kind[]): Kind {
    const chosen = list[Math.floor(this.random() * list.length)];
    if (chosen === undefined) throw new Error('Expected a list with an element.');
    return chosen;
  }

  isLikely(chance: number): boolean {
    return this.random() < chance;
  }

  phrase(least: number, most: number): string {
    const text = Array.from({ length: this.count(least, most) }, () => this.one(words)).join(' ');
    return text.charAt(0).toUpperCase() + text.slice(1);
  }

  sentence(): string {
    return `${this.phrase(7, 18)}.`;
  }

  paragraph(least = 2, most = 5): SourceBlock {
    return {
      kind: 'paragraph',
      text: Array.from({ length: this.count(least, most) }, () => this.sentence()).join(' '),
    };
  }

  heading(level: number): SourceBlock {
    return { kind: 'heading', level, text: this.phrase(2, 4) };
  }

  list(): SourceBlock {
    const items = Array.from({ length: this.count(3, 6) }, () => ({
      text: this.isLikely(0.3) ? this.sentence() : this.phrase(2, 6),
      items: this.isLikely(0.3) ? Array.from({ length: this.count(2, 3) }, () => this.phrase(2, 5)) : [],
    }));
    return { kind: 'list', ordered: this.isLikely(0.4), items };
  }

  number(): string {
    switch (this.count(0, 4)) {
      case 0:
        return String(this.count(1, 99));
      case 1:
        return this.count(1_000, 99_999).toLocaleString('en');
      case 2:
        return `${this.between(0, 100).toFixed(1)}%`;
      case 3:
        return this.between(-90, 900).toFixed(2);
      default:
        return this.count(1_000_000, 9_999_999).toLocaleString('en');
    }
  }

  code(): string {
    return `${this.one('ABCDEFGHKLMN'.split(''))}${this.count(10, 99)}-${this.count(100, 999)}`;
  }
}

/** Returns the document of a kind and a seed. */
export function documentOf(kind: Kind, seed: number): Source {
  const writer = new Writer(seed * 7_919 + [...tableKinds, ...plainKinds].indexOf(kind) * 104_729);
  const columns = kind === 'two columns' || (kind === 'prose in columns' && seed % 3 !== 0) ? 2 : 1;
  const source: Source = {
    kind,
    seed,
    columns: kind === 'prose in columns' && seed % 3 === 0 ? 3 : columns,
    font: writer.one(['serif', 'sans'] as const),
    size: Math.round(writer.between(columns > 1 ? 8.5 : 9.5, columns > 1 ? 10 : 12) * 2) / 2,
    leading: writer.between(1.2, 1.45),
    blocks: [{ kind: 'heading', level: 1, text: writer.phrase(3, 5) }],
  };
  const isTable = (tableKinds as readonly string[]).includes(kind);
  const sections = kind === 'page break' ? 1 : kind === 'prose in columns' ? 4 : columns > 1 ? 3 : 2;
  for (let section = 0; section < sections; section++) {
    if (section > 0 || writer.isLikely(0.5)) source.blocks.push(writer.heading(2));
    source.blocks.push(writer.paragraph());
    if (writer.isLikely(0.4)) source.blocks.push(writer.list());
    if (kind === 'page break') for (let more = 0; more < 3; more++) source.blocks.push(writer.paragraph(4, 7));
    source.blocks.push(...(isTable ? [tableOf(writer, kind)] : plainBlocks(writer, kind)), writer.paragraph());
    if (columns > 1) source.blocks.push(writer.paragraph(4, 6));
  }
  return source;
}

function plainBlocks(writer: Writer, kind: Kind): SourceBlock[] {
  const lines = (least: number, most: number, line: () => [string, string]) =>
    Array.from({ length: writer.count(least, most) }, line);
  switch (kind) {
    case 'lists':
      return [writer.list(), writer.paragraph(1, 2), writer.list()];
    case 'form':
      return [{ kind: 'lines', look: 'form', lines: lines(4, 8, () => [`${writer.phrase(1, 3)}:`, '']) }];
    case 'code':
      return [
        {
          kind: 'lines',
          look: 'code',
          lines: lines(5, 10, () => [
            `${'  '.repeat(writer.count(0, 2))}${writer.one(words)} = ${writer.one(words)}(${writer.one(words)}, ${writer.count(1, 99)});`,
            '',
          ]),
        },
      ];
    case 'contents':
      return [
        {
          kind: 'lines',
          look: 'contents',
          lines: lines(6, 12, () => [writer.phrase(2, 6), String(writer.count(1, 240))]),
        },
      ];
    case 'index':
      return [
        {
          kind: 'lines',
          look: 'index',
          lines: lines(24, 36, () => [
            `${writer.phrase(1, 2)}, ${Array.from({ length: writer.count(1, 3) }, () => writer.count(1, 400)).join(', ')}`,
            '',
          ]),
        },
      ];
    case 'address':
      return [{ kind: 'lines', look: 'address', lines: lines(4, 5, () => [writer.phrase(1, 3), '']) }];
    case 'terms':
      return [{ kind: 'lines', look: 'terms', lines: lines(4, 6, () => [writer.phrase(1, 1), writer.sentence()]) }];
    default:
      return [writer.paragraph(3, 5), writer.paragraph(3, 6)];
  }
}

function lookOf(writer: Writer, kind: Kind): TableLook {
  const look = (rules: TableLook['rules'], isStriped = false): TableLook => ({
    rules,
    isStriped,
    hasFilledHead: rules === 'none' ? false : writer.isLikely(0.25),
    hasBoldHead: writer.isLikely(0.7),
    padding: [writer.between(4, 9), writer.between(1.5, 5)],
    width: writer.isLikely(0.5) ? 1 : writer.between(0.7, 0.95),
    scale: writer.between(0.85, 1),
  });
  switch (kind) {
    case 'ruled':
      return look('grid');
    case 'striped':
      return look('none', true);
    case 'book style':
      return look('book');
    case 'head rule':
      return look('head');
    case 'rules between rows':
      return look('rows');
    case 'borderless':
      return look('none');
    case 'narrow gaps':
      return { ...look(writer.one(['book', 'head', 'none'] as const)), padding: [writer.between(2.2, 3.5), 2] };
    default: {
      const rules = writer.one(['grid', 'rows', 'book', 'head', 'none', 'none'] as const);
      return look(rules, rules === 'none' && writer.isLikely(0.6));
    }
  }
}

function tableOf(writer: Writer, kind: Kind): SourceTable {
  const isNarrow = kind === 'two columns';
  const look = lookOf(writer, kind);
  if (isNarrow) look.width = 1;
  const hasLines = kind === 'several lines' || (!isNarrow && kind !== 'page break' && writer.isLikely(0.15));
  // Cells of several lines without anything between rows are only told apart by space.
  if (hasLines && look.rules !== 'grid' && look.rules !== 'rows' && !look.isStriped)
    look.padding[1] = writer.between(4, 6);
  const columns = isNarrow ? writer.count(2, 4) : writer.count(hasLines ? 2 : 3, hasLines ? 4 : 6);
  const types = Array.from({ length: columns }, (_, index) =>
    index === 0
      ? writer.one(['name', 'name', 'code'] as const)
      : kind === 'numeric'
        ? 'number'
        : hasLines && index === columns - 1
          ? 'text'
          : writer.one(['name', 'number', 'number', 'code', 'word'] as const),
  );
  const make = (type: (typeof types)[number]) => {
    switch (type) {
      case 'name':
        return writer.phrase(1, isNarrow ? 1 : columns > 4 ? 2 : 3);
      case 'number':
        return writer.number();
      case 'code':
        return writer.code();
      case 'text':
        return writer.phrase(8, 20);
      default:
        return writer.one(words);
    }
  };
  const chanceOfEmpty = kind === 'empty cells' ? 0.25 : writer.isLikely(0.2) ? 0.06 : 0;
  const rowCount = kind === 'page break' ? writer.count(40, 60) : writer.count(3, hasLines ? 6 : 10);
  const cell = (text: string): SourceCell => ({ text, columns: 1, rows: 1 });
  const rows = Array.from({ length: rowCount }, () =>
    types.map((type, index) => cell(index > 0 && writer.isLikely(chanceOfEmpty) ? '' : make(type))),
  );
  const head = types.map(() => cell(writer.phrase(1, isNarrow || columns > 4 ? 1 : 2)));
  const heads = [head];
  if (kind === 'spanning') heads.unshift(...spanningHead(writer, columns));
  const section = rows[Math.floor(rows.length / 2)];
  // A row that is the title of those below it.
  if (kind === 'spanning' && section && writer.isLikely(0.4))
    section.splice(0, section.length, { text: writer.phrase(2, 3), columns, rows: 1 });
  return {
    kind: 'table',
    rows: [...heads, ...rows],
    weights: types.map((type) => ({ name: isNarrow ? 1.3 : 1.6, number: 1.1, code: 1, word: 1.1, text: 3.5 })[type]),
    alignments: types.map((type) => (type === 'number' ? (writer.isLikely(0.75) ? 'right' : 'center') : 'left')),
    look,
  };
}

/** Returns a row with titles over two columns each, behind the first. */
function spanningHead(writer: Writer, columns: number): SourceCell[][] {
  const cells: SourceCell[] = [{ text: '', columns: 1, rows: 1 }];
  for (let column = 1; column < columns; column += 2)
    cells.push({ text: writer.phrase(1, 2), columns: Math.min(2, columns - column), rows: 1 });
  return [cells];
}

/** Returns the structure of a document in Markdown, with its tables in HTML. */
export function truthOf({ blocks }: Source): string {
  return blocks
    .map((block) => {
      switch (block.kind) {
        case 'heading':
          return `${'#'.repeat(block.level)} ${block.text}`;
        case 'paragraph':
          return block.text;
        case 'list':
          return block.items
            .flatMap(({ text, items }, index) => [
              `${block.ordered ? `${index + 1}.` : '-'} ${text}`,
              ...items.map((inner) => `   - ${inner}`),
            ])
            .join('\n');
        case 'lines':
          return block.lines
            .map(([first, second]) => `${first} ${second}`.trimEnd())
            .join(block.look === 'code' ? '\n' : '\n\n');
        default:
          return htmlOf(block);
      }
    })
    .join('\n\n');
}

function htmlOf({ rows }: SourceTable): string {
  const lines = rows.map((cells) => {
    const row = cells.map(({ text, columns }) => `<td${columns > 1 ? ` colspan="${columns}"` : ''}>${text}</td>`);
    return `<tr>${row.join('')}</tr>`;
  });
  return `<table>${lines.join('')}</table>`;
}
