import type { JsonObject, JsonValue } from '../../../../shared/tasks/task.ts';
import { type Block, type Cell, type Content, type Inline, type Item, plainText } from '../model.ts';
import { writeBlock } from './markdown.ts';

/** Writes a document as JSON: its blocks in order, each with its text, its Markdown and where it is. */
export function writeJson(content: Content, address: (picture: number) => string | undefined): string {
  const { title, pages } = content;
  const markdownOf = (block: Block) => writeBlock(block, content, { markers: false, address });
  const writer = { markdownOf, address };
  let place: JsonObject = {};
  const blocks: JsonValue[] = [];
  for (const block of content.blocks)
    if (block.kind === 'marker')
      place = { [block.unit]: block.unit === 'sheet' ? (block.name ?? block.number) : block.number };
    else blocks.push(...jsonOf(block, writer).map((each) => ({ ...each, ...place, ...placeOf(block) })));
  const notes = [...content.notes].map(([id, note]) => ({ id, text: note.map(textIn).join('\n') }));
  const head = { ...(title === undefined ? {} : { title }), ...(pages ? { pages } : {}) };
  const fields = Object.entries(head).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const lines = (name: string, values: JsonValue[]) =>
    `"${name}":[\n${values.map((value) => JSON.stringify(value)).join(',\n')}\n]`;
  return `{${[...fields, lines('blocks', blocks), ...(notes.length > 0 ? [lines('notes', notes)] : [])].join(',\n')}}\n`;
}

interface Writer {
  markdownOf(block: Block): string;
  address(picture: number): string | undefined;
}

function placeOf({ page, box }: Block): JsonObject {
  return { ...(page === undefined ? {} : { page }), ...(box === undefined ? {} : { bbox: box }) };
}

function jsonOf(block: Block, writer: Writer): JsonObject[] {
  const markdown = writer.markdownOf(block);
  switch (block.kind) {
    case 'heading':
      return [{ type: 'heading', level: block.level, text: lineOf(block.content), markdown }];
    case 'paragraph': {
      const pictures = picturesIn(block.content, writer);
      const text = textIn(block);
      return [...(text === '' ? [] : [{ type: 'paragraph', text, markdown }]), ...pictures];
    }
    case 'list':
      return [
        {
          type: 'list',
          ordered: block.ordered,
          ...(block.ordered ? { start: block.start } : {}),
          items: block.items.map((item) => itemOf(item, writer)),
          markdown,
        },
      ];
    case 'table':
      return [
        {
          type: 'table',
          rows: block.rows.map((cells, index) => cells.map((cell) => cellOf(cell, index < block.headerRows))),
          markdown,
        },
      ];
    case 'quote':
      return [{ type: 'quote', blocks: block.blocks.flatMap((inner) => jsonOf(inner, writer)), markdown }];
    case 'code':
      return [
        {
          type: 'code',
          text: block.text,
          ...(block.language === undefined ? {} : { language: block.language }),
          markdown,
        },
      ];
    case 'formula':
      return [{ type: 'formula', tex: block.tex, markdown }];
    case 'rule':
      return [{ type: 'rule', markdown }];
    default:
      return [];
  }
}

function itemOf({ blocks, checked }: Item, writer: Writer): JsonObject {
  const [first, ...others] = blocks;
  const isText = first?.kind === 'paragraph';
  const inner = (isText ? others : blocks).flatMap((block) => jsonOf(block, writer));
  return {
    text: isText ? textIn(first) : '',
    ...(checked === undefined ? {} : { checked }),
    ...(inner.length > 0 ? { blocks: inner } : {}),
  };
}

function cellOf({ blocks, columns, rows }: Cell, isHeader: boolean): JsonObject {
  return {
    text: blocks.map(textIn).join('\n'),
    ...(isHeader ? { header: true } : {}),
    ...(columns > 1 ? { colspan: columns } : {}),
    ...(rows > 1 ? { rowspan: rows } : {}),
  };
}

function picturesIn(content: readonly Inline[], { address }: Writer): JsonObject[] {
  return content.flatMap((inline) => {
    if (inline.kind === 'link') return picturesIn(inline.content, { address, markdownOf: () => '' });
    if (inline.kind !== 'picture') return [];
    const file = inline.picture === undefined ? undefined : address(inline.picture);
    return [
      {
        type: 'picture',
        ...(file === undefined ? {} : { file: decodeURIComponent(file) }),
        ...(inline.alt === '' ? {} : { alt: inline.alt }),
      },
    ];
  });
}

function lineOf(content: readonly Inline[]): string {
  return plainText(content.filter(({ kind }) => kind !== 'picture')).trim();
}

function textIn(block: Block): string {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return lineOf(block.content);
    case 'list':
      return block.items.map((item) => item.blocks.map(textIn).join('\n')).join('\n');
    case 'table':
      return block.rows.map((cells) => cells.map((cell) => cell.blocks.map(textIn).join(' ')).join('\t')).join('\n');
    case 'quote':
      return block.blocks.map(textIn).join('\n');
    case 'code':
      return block.text;
    case 'formula':
      return block.tex;
    default:
      return '';
  }
}
