import { PDFDocument, type PDFFont, type PDFPage, rgb, StandardFonts } from '@cantoo/pdf-lib';
import type { Source, SourceBlock, SourceTable } from './documents.ts';
import { headRows } from './web-page.ts';

/** What is on a page, in points from its lower left corner. */
type Mark =
  | { kind: 'text'; x: number; y: number; size: number; font: FontName; text: string }
  | { kind: 'rule'; x: number; y: number; width: number; height: number; grey: number };

const fontNames = {
  serif: StandardFonts.TimesRoman,
  serifBold: StandardFonts.TimesRomanBold,
  sans: StandardFonts.Helvetica,
  sansBold: StandardFonts.HelveticaBold,
  mono: StandardFonts.Courier,
};
type FontName = keyof typeof fontNames;
type Fonts = Record<FontName, PDFFont>;

const [pageWidth, pageHeight] = [595, 842];
const margin = 56;
const columnGap = 21;

/** Draws a document with pdf-lib: each line of a cell is one string. */
export async function drawnByPdfLib(source: Source): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const fonts = await fontsOf(document);
  for (const marks of new Layout(source, fonts).pages()) {
    const page: PDFPage = document.addPage([pageWidth, pageHeight]);
    for (const mark of marks)
      if (mark.kind === 'text') page.drawText(mark.text, { ...mark, font: fonts[mark.font] });
      else page.drawRectangle({ ...mark, color: rgb(mark.grey, mark.grey, mark.grey) });
  }
  return document.save();
}

/** Draws a document in PostScript: each word is one string at a place of its own, as TeX does. */
export async function drawnInPostScript(source: Source): Promise<string> {
  const fonts = await fontsOf(await PDFDocument.create());
  const pages = new Layout(source, fonts).pages().map((marks) => {
    const lines = marks.flatMap((mark) => {
      if (mark.kind === 'rule')
        return [`${mark.grey} setgray ${mark.x} ${mark.y} ${mark.width} ${mark.height} rectfill`];
      const font = fonts[mark.font];
      let { x } = mark;
      return [
        `0 setgray /${fontNames[mark.font]} ${mark.size} selectfont`,
        ...mark.text.split(/(\s+)/).flatMap((word) => {
          const at = x;
          x += font.widthOfTextAtSize(word, mark.size);
          return word.trim() === ''
            ? []
            : [`${at.toFixed(2)} ${mark.y.toFixed(2)} moveto (${word.replaceAll(/[\\()]/g, '\\$&')}) show`];
        }),
      ];
    });
    return `${lines.join('\n')}\nshowpage`;
  });
  return `<< /PageSize [${pageWidth} ${pageHeight}] >> setpagedevice\n${pages.join('\n')}`;
}

async function fontsOf(document: PDFDocument): Promise<Fonts> {
  const embedded = Object.entries(fontNames).map(async ([name, font]) => [name, await document.embedFont(font)]);
  return Object.fromEntries(await Promise.all(embedded));
}

/** Places blocks from the top of pages and columns. */
class Layout {
  readonly #source: Source;
  readonly #fonts: Fonts;
  readonly #pages: Mark[][] = [[]];
  #column = 0;
  #columns = 1;
  #top = pageHeight - margin;
  #y = pageHeight - margin;

  constructor(source: Source, fonts: Fonts) {
    this.#source = source;
    this.#fonts = fonts;
  }

  pages(): Mark[][] {
    const [title, ...rest] = this.#source.blocks;
    if (title) this.#block(title);
    this.#columns = this.#source.columns;
    this.#top = this.#y;
    for (const block of rest) this.#block(block);
    return this.#pages;
  }

  get #width(): number {
    return (pageWidth - 2 * margin - columnGap * (this.#columns - 1)) / this.#columns;
  }

  get #left(): number {
    return margin + this.#column * (this.#width + columnGap);
  }

  /** Goes on in the next column, or on the next page, if there is no room. */
  #reserve(height: number): void {
    if (this.#y - height >= margin) return;
    this.#column += 1;
    if (this.#column >= this.#columns) {
      this.#column = 0;
      this.#pages.push([]);
      this.#top = pageHeight - margin;
    }
    this.#y = this.#top;
  }

  #text(text: string, x: number, y: number, size: number, font: FontName): void {
    if (text !== '') this.#pages.at(-1)?.push({ kind: 'text', x, y, size, font, text });
  }

  #rule(x: number, y: number, width: number, height: number, grey = 0.2): void {
    this.#pages.at(-1)?.push({ kind: 'rule', x, y, width, height, grey });
  }

  #wrap(text: string, width: number, size: number, font: FontName): string[] {
    const lines: string[] = [];
    for (const word of text.split(' ')) {
      const longer = `${lines.at(-1)} ${word}`;
      if (lines.length > 0 && this.#fonts[font].widthOfTextAtSize(longer, size) <= width)
        lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }

  #lines(text: string, font: FontName, size: number, indent = 0): void {
    const high = size * this.#source.leading;
    for (const line of this.#wrap(text, this.#width - indent, size, font)) {
      this.#reserve(high);
      this.#y -= high;
      this.#text(line, this.#left + indent, this.#y, size, font);
    }
  }

  #block(block: SourceBlock): void {
    const { font, size, leading } = this.#source;
    switch (block.kind) {
      case 'heading': {
        this.#reserve(size * 6);
        if (this.#y < this.#top) this.#y -= size * 0.8;
        this.#lines(block.text, `${font}Bold`, size * (block.level === 1 ? 1.8 : 1.35));
        this.#y -= size * 0.5;
        return;
      }
      case 'paragraph':
        this.#lines(block.text, font, size);
        this.#y -= size * 0.8;
        return;
      case 'list':
        for (const [index, { text, items }] of block.items.entries()) {
          this.#item(block.ordered ? `${index + 1}.` : '•', text, 12);
          for (const inner of items) this.#item('–', inner, 30);
        }
        this.#y -= size * 0.8;
        return;
      case 'lines': {
        if (block.look === 'index') {
          this.#index(block.lines.map(([line]) => line));
          return;
        }
        for (const [first, second] of block.lines) {
          const high = size * leading;
          this.#reserve(high);
          if (block.look === 'code') {
            this.#y -= high;
            const indent = first.length - first.trimStart().length;
            this.#text(first.trimStart(), this.#left + indent * size * 0.54, this.#y, size * 0.9, 'mono');
          } else if (block.look === 'terms') {
            this.#text(first, this.#left, this.#y - high, size, font);
            this.#lines(second, font, size, 75);
            this.#y -= size * 0.4;
          } else {
            this.#y -= high;
            this.#text(first, this.#left, this.#y, size, font);
            const from = this.#left + this.#fonts[font].widthOfTextAtSize(first, size) + 6;
            if (block.look === 'form') this.#rule(from, this.#y - 2, this.#width * 0.5, 0.6);
            if (block.look === 'contents') {
              const right = this.#left + this.#width - this.#fonts[font].widthOfTextAtSize(second, size);
              this.#text(
                '.'.repeat(Math.max(0, Math.floor((right - from - 4) / (size * 0.28)))),
                from,
                this.#y,
                size,
                font,
              );
              this.#text(second, right, this.#y, size, font);
            }
          }
          if (block.look === 'form') this.#y -= 5;
        }
        this.#y -= size * 0.9;
        return;
      }
      default:
        this.#table(block);
    }
  }

  #item(bullet: string, text: string, indent: number): void {
    const { font, size, leading } = this.#source;
    this.#reserve(size * leading);
    this.#text(bullet, this.#left + indent, this.#y - size * leading, size, font);
    this.#lines(text, font, size, indent + 15);
  }

  #index(lines: string[]): void {
    const { font, size, leading } = this.#source;
    const high = Math.ceil(lines.length / 3);
    this.#reserve(high * size * leading);
    for (const [index, line] of lines.entries()) {
      const x = this.#left + Math.floor(index / high) * (this.#width / 3 + 3);
      this.#text(line, x, this.#y - ((index % high) + 1) * size * leading, size * 0.9, font);
    }
    this.#y -= high * size * leading + size;
  }

  #table({ rows, alignments, weights, look }: SourceTable): void {
    const { rules, isStriped, hasFilledHead, hasBoldHead, padding, scale } = look;
    const { font } = this.#source;
    const size = this.#source.size * scale;
    const width = this.#width * look.width;
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const widths = weights.map((weight) => (width * weight) / total);
    const heads = headRows(rows);
    const place = (index: number) => widths.slice(0, index).reduce((sum, each) => sum + each, 0);
    const made = rows.map((cells, index) => {
      let column = 0;
      const face: FontName = index < heads && hasBoldHead ? `${font}Bold` : font;
      const row = cells.map(({ text, columns }) => {
        const cell = {
          x: place(column),
          wide: place(column + columns) - place(column),
          align: columns > 1 ? 'center' : alignments[column],
          face,
        };
        column += columns;
        return { ...cell, lines: this.#wrap(text, cell.wide - 2 * padding[0], size, face) };
      });
      const count = Math.max(1, ...row.map(({ lines }) => lines.length));
      return { row, high: count * size * 1.18 + 2 * padding[1] };
    });
    this.#reserve((made[0]?.high ?? 0) * 3);
    this.#y -= 4;
    const draw = (index: number) => {
      const { row, high } = made[index] ?? { row: [], high: 0 };
      const isHead = index < heads;
      this.#y -= high;
      if ((isStriped && !isHead && (index - heads) % 2 === 0) || (hasFilledHead && isHead))
        this.#rule(this.#left, this.#y, width, high, 0.91);
      const isUnder =
        rules === 'grid' || rules === 'rows' || ((rules === 'head' || rules === 'book') && index === heads - 1);
      if (isUnder || (rules === 'book' && index === rows.length - 1)) this.#rule(this.#left, this.#y, width, 0.6);
      if ((rules === 'book' || rules === 'grid') && index === 0) this.#rule(this.#left, this.#y + high, width, 0.9);
      for (const { x, wide, align, face, lines } of row) {
        if (rules === 'grid') for (const at of [x, x + wide]) this.#rule(this.#left + at, this.#y, 0.6, high);
        for (const [line, text] of lines.entries()) {
          const room = wide - 2 * padding[0] - this.#fonts[face].widthOfTextAtSize(text, size);
          const shift = align === 'right' ? room : align === 'center' ? room / 2 : 0;
          const y = this.#y + high - padding[1] - size * (0.9 + line * 1.18);
          this.#text(text, this.#left + x + padding[0] + shift, y, size, face);
        }
      }
    };
    for (const [index, { high }] of made.entries()) {
      const page = this.#pages.length;
      this.#reserve(high);
      // The head is repeated on the next page.
      if (this.#pages.length > page) for (let head = 0; head < heads; head++) draw(head);
      draw(index);
    }
    this.#y -= size * 1.6;
  }
}
