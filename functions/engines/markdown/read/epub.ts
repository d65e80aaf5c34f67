import { posix } from 'node:path';
import { checkHtml } from '../../document/guards/containers.ts';
import { EngineError } from '../../runtime/engine.ts';
import { type Block, type Content, plainText } from '../model.ts';
import { type Parts, Pictures } from '../ooxml.ts';
import { contentOf, find, findAll, parseXml } from '../xml.ts';
import { parseHtml, readPage } from './html.ts';

/** Reads a book: the pages of its spine in order. */
export function readEpub(parts: Parts): Content {
  const path = find(parseXml(parts.get('META-INF/container.xml') ?? ''), 'rootfile')?.attributes['full-path'] ?? '';
  const opf = parseXml(parts.get(path) ?? '');
  const items = new Map(findAll(opf, 'item').map(({ attributes }) => [attributes.id, attributes]));
  const spine = findAll(opf, 'itemref');
  if (spine.length === 0) throw new EngineError('The book could not be read: it lists no pages.');
  const pictures = new Pictures();
  const notes = new Map<string, Block[]>();
  const blocks: Block[] = [];
  for (const { attributes } of spine) {
    const item = items.get(attributes.idref);
    if (!item?.href || /\bnav\b/.test(item.properties ?? '')) continue;
    const name = resolve(path, item.href);
    const bytes = parts.get(name);
    if (!bytes) continue;
    const page = withEndTags(bytes.toString('utf8'));
    checkHtml(page);
    const place = (address: string) => (address.startsWith('#') ? name + address : resolve(name, address));
    const picture = (address: string) => (/^[a-z]+:/i.test(address) ? undefined : parts.get(resolve(name, address)));
    const read = readPage(parseHtml(page), { pictures, notes, picture, place });
    // A chapter may repeat the title page.
    blocks.push(...(isSameHeading(blocks.at(-1), read[0]) ? read.slice(1) : read));
  }
  const title = contentOf(find(opf, 'dc:title')).trim();
  return { ...(title === '' ? {} : { title }), blocks, notes, pictures: pictures.list };
}

function isSameHeading(one: Block | undefined, other: Block | undefined): boolean {
  if (one?.kind !== 'heading' || other?.kind !== 'heading') return false;
  return plainText(one.content).trim() === plainText(other.content).trim();
}

function resolve(base: string, address: string): string {
  let path = address;
  try {
    path = decodeURIComponent(address);
  } catch {
    // It is taken as it is written.
  }
  return posix.join(posix.dirname(base), path);
}

const voidNames = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;

/** Writes the empty elements of XHTML as HTML understands them: there, `<a/>` is a start tag. */
export function withEndTags(page: string): string {
  return page.replaceAll(
    /<([a-z][\w:-]*)((?:\s+[\w:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*\/>/gi,
    (tag, name, attributes) => (voidNames.test(name) ? tag : `<${name}${attributes}></${name}>`),
  );
}
