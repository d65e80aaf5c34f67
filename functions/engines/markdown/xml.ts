import { EngineError } from '../runtime/engine.ts';

/** An element, or the text between elements. */
export type Node = Element | string;

export interface Element {
  /** With its prefix, such as `w:p`: the writers of office documents all use the same prefixes. */
  name: string;
  attributes: Record<string, string>;
  children: Node[];
}

/** A tree takes about twenty times the size of its text. */
const maxLetters = 60_000_000;

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : '\ufffd';
  });
}

const tags =
  /<(?:!--[\s\S]*?-->|!\[CDATA\[([\s\S]*?)\]\]>|[!?][^>]*>|\/([^\s>]*)\s*>|([^\s/>!?]+)((?:[^"'>]|"[^"]*"|'[^']*')*?)(\/?)>)/g;
const attribute = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Parses XML that a guard has checked: without entities of its own, and not nested too deep. */
export function parseXml(bytes: Buffer | string): Element {
  const text = typeof bytes === 'string' ? bytes : textOf(bytes);
  if (text.length > maxLetters) throw new EngineError('The document is too large to convert to text. Split it.');
  const root: Element = { name: '', attributes: {}, children: [] };
  const open = [root];
  let at = 0;
  tags.lastIndex = 0;
  for (const match of text.matchAll(tags)) {
    const [tag, literal, closing, name, attributes = '', empty] = match;
    const parent = open.at(-1) ?? root;
    if (match.index > at) parent.children.push(decode(text.slice(at, match.index)));
    at = match.index + tag.length;
    if (literal !== undefined) parent.children.push(literal);
    else if (closing !== undefined) {
      const place = open.findLastIndex((element) => element.name === closing);
      if (place > 0) open.length = place;
    } else if (name !== undefined) {
      const element: Element = { name, attributes: attributes === '' ? none : attributesOf(attributes), children: [] };
      parent.children.push(element);
      if (empty === '') open.push(element);
    }
  }
  return root;
}

const none: Record<string, string> = Object.freeze({});

function attributesOf(text: string): Record<string, string> {
  const attributes: Record<string, string> = Object.create(null);
  for (const [, name = '', double, single] of text.matchAll(attribute))
    attributes[name] = decode(double ?? single ?? '');
  return attributes;
}

function textOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString('utf16le', 2);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}

/** Returns the elements among the children of an element. */
export function elements(parent: Element | undefined): Element[] {
  return parent?.children.filter((node) => typeof node !== 'string') ?? [];
}

/** Returns the children with a name. */
export function all(parent: Element | undefined, name: string): Element[] {
  return elements(parent).filter((element) => element.name === name);
}

/** Returns the first element on a path of names. */
export function child(parent: Element | undefined, ...path: string[]): Element | undefined {
  let element = parent;
  for (const name of path)
    element = element?.children.find((node): node is Element => typeof node !== 'string' && node.name === name);
  return element;
}

/** Returns an attribute of the first element on a path of names. */
export function attributeOf(parent: Element | undefined, path: string[], name: string): string | undefined {
  return child(parent, ...path)?.attributes[name];
}

/** Returns the first descendant with a name. */
export function find(parent: Element | undefined, name: string): Element | undefined {
  for (const element of elements(parent)) {
    const found = element.name === name ? element : find(element, name);
    if (found) return found;
  }
  return undefined;
}

/** Returns all descendants with a name, not those inside of another. */
export function findAll(parent: Element | undefined, name: string): Element[] {
  return elements(parent).flatMap((element) => (element.name === name ? [element] : findAll(element, name)));
}

/** Returns the text in an element. */
export function contentOf(node: Node | undefined): string {
  if (node === undefined) return '';
  return typeof node === 'string' ? node : node.children.map(contentOf).join('');
}
