import { toDataUri } from '../../document/guards/pictures.ts';
import {
  type Block,
  type Cell,
  type Content,
  type Inline,
  type Picture,
  plainText,
  type Style,
  type Table,
} from '../model.ts';

export interface WriteOptions {
  /** Whether pages and slides begin with a comment that has their number. */
  markers: boolean;
  /** Returns the address of a picture; undefined if pictures are left out. */
  address: (picture: number) => string | undefined;
}

/** Writes a document as GitHub's Markdown, with formulas in LaTeX between dollar signs. */
export function writeMarkdown(content: Content, options: WriteOptions): string {
  const writer = new Writer(content, options);
  const text = [...writer.blocks(content.blocks), ...writer.notes()].join('\n\n');
  return text === '' ? '' : `${text}\n`;
}

/** Writes one block, without the footnotes that it refers to. */
export function writeBlock(block: Block, content: Content, options: WriteOptions): string {
  return new Writer(content, options).blocks([block]).join('\n\n');
}

/** Returns the address of an embedded picture. */
export function embedded({ bytes, format }: Picture): string {
  return toDataUri(`image/${format === 'jpg' ? 'jpeg' : format}`, bytes);
}

class Writer {
  readonly #content: Content;
  readonly #options: WriteOptions;
  /** Footnotes in the order of their first references. */
  readonly #noted: string[] = [];

  constructor(content: Content, options: WriteOptions) {
    this.#content = content;
    this.#options = options;
  }

  blocks(blocks: readonly Block[]): string[] {
    const written: string[] = [];
    let last: Block | undefined;
    for (const block of blocks) {
      const text = this.#block(block);
      if (text === '') continue;
      // Two lists in a row would be one.
      if (last?.kind === 'list' && block.kind === 'list' && last.ordered === block.ordered) written.push('<!-- -->');
      written.push(text);
      last = block;
    }
    return written;
  }

  /** Returns the footnotes. One may refer to another. */
  notes(): string[] {
    const written: string[] = [];
    for (let place = 0; place < this.#noted.length; place++) {
      const blocks = this.#content.notes.get(this.#noted[place] ?? '') ?? [];
      const text = this.blocks(blocks).join('\n\n');
      written.push(`[^${place + 1}]: ${indented(text, '    ')}`);
    }
    return written;
  }

  #block(block: Block): string {
    switch (block.kind) {
      case 'heading': {
        const text = this.#inlines(block.content, 'line').trim();
        return text === '' ? '' : `${'#'.repeat(block.level)} ${text.replace(/(#+)$/, '\\$1')}`;
      }
      case 'paragraph':
        return startEscaped(this.#inlines(block.content, 'text').trim());
      case 'list':
        return this.#list(block);
      case 'table':
        return this.#table(block);
      case 'quote':
        return this.blocks(block.blocks)
          .join('\n\n')
          .split('\n')
          .map((line) => (line === '' ? '>' : `> ${line}`))
          .join('\n');
      case 'code': {
        const text = block.text.replace(/^\n+|\s+$/g, '');
        const fence = '`'.repeat(Math.max(3, longest(text, /`+/g) + 1));
        return text === ''
          ? ''
          : `${fence}${/^[\w+#.-]{1,30}$/.test(block.language ?? '') ? block.language : ''}\n${text}\n${fence}`;
      }
      case 'formula':
        return block.tex.trim() === '' ? '' : `$$\n${safeTex(block.tex)}\n$$`;
      case 'rule':
        return '---';
      default:
        return this.#options.markers && block.unit !== 'sheet' ? `<!-- ${block.unit} ${block.number} -->` : '';
    }
  }

  #list(list: Block & { kind: 'list' }): string {
    return list.items
      .map(({ blocks, checked }, index) => {
        const marker = list.ordered ? `${list.start + index}. ` : '- ';
        const box = checked === undefined ? '' : checked ? '[x] ' : '[ ] ';
        const parts = this.blocks(blocks);
        // A nested list follows its item without a blank line; other blocks need one.
        const text = parts.reduce((whole, part, place) => {
          if (place === 0) return part;
          const inner = blocks[place];
          // Only a list that starts at 1 can follow a line of text.
          const isNested = inner?.kind === 'list' && inner.start === 1 && blocks.length === parts.length;
          return `${whole}${isNested ? '\n' : '\n\n'}${part}`;
        }, '');
        return `${marker}${box}${indented(text, ' '.repeat(marker.length))}`.trimEnd();
      })
      .join('\n');
  }

  #table(table: Table): string {
    const isPlain = table.rows.every((cells) =>
      cells.every((cell) => cell.columns === 1 && cell.rows === 1 && isSimple(cell)),
    );
    if (!isPlain) return this.#htmlTable(table);
    const rows = table.rows.map((cells) => cells.map((cell) => this.#cell(cell)));
    const width = rows.reduce((most, { length }) => Math.max(most, length), 1);
    const line = (cells: string[]) =>
      `| ${Array.from({ length: width }, (_, place) => cells[place] ?? '').join(' | ')} |`;
    const [header = [], ...others] = rows;
    return [line(header), `|${'---|'.repeat(width)}`, ...others.map(line)].join('\n');
  }

  #cell({ blocks }: Cell): string {
    const lines = blocks.map((block) => {
      if (block.kind === 'paragraph' || block.kind === 'heading') return this.#inlines(block.content, 'cell').trim();
      if (block.kind === 'formula') return `$${safeTex(block.tex).replaceAll('|', '\\vert ')}$`;
      if (block.kind !== 'list') return '';
      return block.items
        .map((item, index) => {
          const text = item.blocks.map((inner) =>
            inner.kind === 'paragraph' ? this.#inlines(inner.content, 'cell').trim() : '',
          );
          return `${block.ordered ? `${block.start + index}.` : '•'} ${text.join(' ')}`;
        })
        .join('<br>');
    });
    return lines.filter((text) => text !== '').join('<br>');
  }

  #htmlTable(table: Table): string {
    const rows = table.rows.map((cells, index) => {
      const tag = index < table.headerRows ? 'th' : 'td';
      const row = cells.map((cell) => {
        const spans = `${cell.columns > 1 ? ` colspan="${cell.columns}"` : ''}${cell.rows > 1 ? ` rowspan="${cell.rows}"` : ''}`;
        return `<${tag}${spans}>${this.#html(cell.blocks)}</${tag}>`;
      });
      return `<tr>${row.join('')}</tr>`;
    });
    return `<table>\n${rows.join('\n')}\n</table>`;
  }

  /** Returns blocks as HTML in one line: a blank line would end the table. */
  #html(blocks: readonly Block[]): string {
    const parts = blocks.map((block) => {
      switch (block.kind) {
        case 'heading':
          return `<b>${this.#htmlInlines(block.content)}</b>`;
        case 'paragraph':
          return this.#htmlInlines(block.content);
        case 'list': {
          const tag = block.ordered ? 'ol' : 'ul';
          return `<${tag}>${block.items.map((item) => `<li>${this.#html(item.blocks)}</li>`).join('')}</${tag}>`;
        }
        case 'table':
          return this.#htmlTable(block).replaceAll('\n', '');
        case 'quote':
          return `<blockquote>${this.#html(block.blocks)}</blockquote>`;
        case 'code':
          return `<pre>${escapeHtml(block.text.trim()).replaceAll('\n', '&#10;')}</pre>`;
        case 'formula':
          return `$${escapeHtml(safeTex(block.tex))}$`;
        default:
          return '';
      }
    });
    return parts.reduce(
      (whole, part, place) =>
        whole === '' ||
        part === '' ||
        [blocks[place]?.kind, blocks[place - 1]?.kind].some((kind) => kind !== 'paragraph')
          ? whole + part
          : `${whole}<br>${part}`,
      '',
    );
  }

  #htmlInlines(content: readonly Inline[]): string {
    return content
      .map((inline) => {
        switch (inline.kind) {
          case 'text':
            return styled(escapeHtml(inline.text.replaceAll(/\s+/g, ' ')), inline.style);
          case 'link': {
            const target = safeTarget(inline.target);
            const text = this.#htmlInlines(inline.content);
            return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
          }
          case 'picture': {
            const address = this.#addressOf(inline.picture);
            return address === undefined
              ? escapeHtml(inline.alt)
              : `<img src="${escapeHtml(address)}" alt="${escapeHtml(inline.alt)}">`;
          }
          case 'formula':
            return `$${escapeHtml(safeTex(inline.tex))}$`;
          case 'note':
            return this.#note(inline.id);
          default:
            return '<br>';
        }
      })
      .join('');
  }

  #inlines(content: readonly Inline[], place: 'text' | 'line' | 'cell'): string {
    const parts: string[] = [];
    let open: Style = {};
    for (const inline of content) {
      if (inline.kind !== 'text' || inline.style.code || inline.text.trim() === '') {
        parts.push(this.#inline(inline, place));
        continue;
      }
      const before = parts.join('').length;
      open = inline.style;
      parts.push(
        emphasized(
          escapeText(inline.text.replaceAll(/\s+/g, ' '), place === 'cell'),
          open,
          before === 0 ? '' : (parts.at(-1)?.at(-1) ?? ''),
        ),
      );
    }
    return parts.join('');
  }

  #inline(inline: Inline, place: 'text' | 'line' | 'cell'): string {
    switch (inline.kind) {
      case 'text':
        return inline.style.code && inline.text.trim() !== ''
          ? codeSpan(inline.text, place === 'cell')
          : ' '.repeat(inline.text === '' ? 0 : 1);
      case 'link': {
        const target = safeTarget(inline.target);
        const text = this.#inlines(inline.content, place).trim();
        if (target === undefined || text === '') return text;
        if (plainText(inline.content).trim() === target && /^https?:\/\/[^\s<>]+$/.test(target)) return `<${target}>`;
        return `[${text}](${destination(target)})`;
      }
      case 'picture': {
        const alt = escapeText(inline.alt.replaceAll(/\s+/g, ' ').trim(), place === 'cell');
        const address = this.#addressOf(inline.picture);
        if (address !== undefined) return `![${alt}](${address})`;
        const source = inline.source === undefined ? undefined : safeTarget(inline.source);
        if (source !== undefined && /^https?:/i.test(source))
          return `[${alt === '' ? 'picture' : alt}](${destination(source)})`;
        return alt === '' ? '' : `*[${alt}]*`;
      }
      case 'formula': {
        const tex = safeTex(inline.tex);
        if (tex === '') return '';
        if (inline.display && place === 'text') return `$$${tex}$$`;
        return `$${place === 'cell' ? tex.replaceAll('|', '\\vert ') : tex}$`;
      }
      case 'note':
        return this.#note(inline.id);
      default:
        return place === 'text' ? '\\\n' : place === 'cell' ? '<br>' : ' ';
    }
  }

  #addressOf(picture: number | undefined): string | undefined {
    return picture === undefined ? undefined : this.#options.address(picture);
  }

  #note(id: string): string {
    if (!this.#content.notes.has(id)) return '';
    if (!this.#noted.includes(id)) this.#noted.push(id);
    return `[^${this.#noted.indexOf(id) + 1}]`;
  }
}

/** Returns whether a cell fits on a line. */
function isSimple({ blocks }: Cell): boolean {
  return blocks.every(
    (block) =>
      block.kind === 'paragraph' ||
      block.kind === 'heading' ||
      block.kind === 'formula' ||
      (block.kind === 'list' && block.items.every((item) => item.blocks.every(({ kind }) => kind === 'paragraph'))),
  );
}

function indented(text: string, indent: string): string {
  return text.replaceAll(/\n(?!\n)/g, `\n${indent}`);
}

function longest(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((most, [match]) => Math.max(most, match.length), 0);
}

/** Characters that would be markup. Those that are only at the start of a line are escaped by startEscaped. */
function escapeText(text: string, inCell: boolean): string {
  const escaped = text
    .replaceAll(/[\\`*]|~~|\](?=[([:])|\[(?=[^\]]*\])|<(?=[a-z/!?])|&(?=#?\w+;)/gi, (match) =>
      match === '~~' ? '\\~\\~' : `\\${match}`,
    )
    .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    // Two of them would be a formula.
    .replaceAll(/\$(?=.*\$)|(?<=\$.*)\$/g, '\\$');
  return inCell ? escaped.replaceAll('|', '\\|') : escaped;
}

/** Escapes what would make a line of text something else. */
function startEscaped(text: string): string {
  return text
    .split('\n')
    .map((line) =>
      line
        .replace(/^(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|=+(?=\s*$)|-+(?=\s*$)|\|)/, '\\$1')
        .replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2'),
    )
    .join('\n');
}

/** Returns text in its style. Space stays outside, since emphasis cannot begin or end with it. */
function emphasized(text: string, style: Style, previous: string): string {
  const [, before = '', core = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? [];
  if (core === '') return text;
  let marked = core;
  if (style.shift) marked = `<${style.shift}>${marked}</${style.shift}>`;
  if (style.strike) marked = `~~${marked}~~`;
  const stars = `${style.bold ? '**' : ''}${style.italic ? '*' : ''}`;
  if (stars === '') return before + marked + after;
  // Two markers in a row would be one of another meaning.
  const separator = before === '' && previous === '*' ? '<!-- -->' : '';
  return `${before}${separator}${stars}${marked}${[...stars].reverse().join('')}${after}`;
}

function styled(html: string, { bold, italic, strike, code, shift }: Style): string {
  const tags = [code && 'code', shift, strike && 's', italic && 'i', bold && 'b'].filter(
    (tag) => typeof tag === 'string',
  );
  return tags.reduce((text, tag) => `<${tag}>${text}</${tag}>`, html);
}

function codeSpan(text: string, inCell: boolean): string {
  const fence = '`'.repeat(longest(text, /`+/g) + 1);
  const flat = text.replaceAll(/\s+/g, ' ');
  const space = /^`|`$|^ .* $/.test(flat) ? ' ' : '';
  const code = `${fence}${space}${flat}${space}${fence}`;
  return inCell ? code.replaceAll('|', '\\|') : code;
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Returns LaTeX that neither ends the formula nor is HTML. */
function safeTex(tex: string): string {
  return tex
    .replaceAll(/(?<!\\)\$/g, '\\$')
    .replaceAll(/<(?=[a-z/!?])/gi, '\\lt ')
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim();
}

/** Returns the target of a link that does nothing but open a page or a message. */
function safeTarget(target: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers skip them in addresses
  const clean = target.replaceAll(/[\u0000-\u001f\u007f]/g, '').trim();
  return /^(?:https?:\/\/|mailto:|tel:|ftp:\/\/)\S/i.test(clean) && clean.length <= 4_000 ? clean : undefined;
}

function destination(target: string): string {
  return target.replaceAll(/[\s<>()"\\]/g, (letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
