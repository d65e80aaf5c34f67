import { EngineError } from '../../runtime/engine.ts';

export interface XmlElement {
  /** Name without its prefix. */
  name: string;
  namespace: string;
  /** Its text without that of elements inside. */
  text: string;
  /** Names of the elements that it is in, from the root. */
  path: string[];
}

const maxDepth = 100;
const nameForm = '[:A-Z_a-z\\u00c0-\\uffff][-.:\\w\\u00b7-\\uffff]*';
const attribute = new RegExp(`\\s+(${nameForm})\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`, 'gy');
const startTag = new RegExp(`<(${nameForm})((?:\\s+${nameForm}\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*)\\s*(/?)>`, 'y');
const endTag = new RegExp(`</(${nameForm})\\s*>`, 'y');
const skipped = /<!--(?:(?!--)[\s\S])*-->|<\?(?!xml\s)[\s\S]*?\?>/y;
const cdata = /<!\[CDATA\[([\s\S]*?)\]\]>/y;
const textRun = /[^<]+/y;
const reference = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));|&/g;
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Reads the elements of an XML document that is well-formed and has no document type, so nothing in it can refer to
 * anything. Throws for any other.
 */
export function readXml(data: Uint8Array): XmlElement[] {
  const text = decode(data);
  let at = /^\ufeff?(?:<\?xml\s[^>]*\?>)?/.exec(text)?.[0].length ?? 0;
  const elements: XmlElement[] = [];
  const open: { tag: string; element: XmlElement; names: Map<string, string> }[] = [];
  const take = (form: RegExp) => {
    form.lastIndex = at;
    const found = form.exec(text);
    if (found) at = form.lastIndex;
    return found;
  };
  let isBroken = false;
  while (at < text.length && !isBroken) {
    const current = open.at(-1);
    if (take(skipped)) continue;
    const start = take(startTag);
    if (start) {
      const [, tag = '', attributes = '', isEmpty] = start;
      if ((!current && elements.length > 0) || open.length >= maxDepth) {
        isBroken = true;
        continue;
      }
      const names = namesOf(attributes, current?.names ?? new Map([['xml', 'xml']]));
      const [prefix, name] = tag.includes(':') ? tag.split(':', 2) : ['', tag];
      const namespace = names.get(prefix ?? '') ?? (prefix === '' ? '' : undefined);
      if (namespace === undefined || !name) throw notXml(`The prefix of ${tag} is not declared.`);
      const path = current ? [...current.element.path, current.element.name] : [];
      const element = { name, namespace, text: '', path };
      elements.push(element);
      if (!isEmpty) open.push({ tag, element, names });
      continue;
    }
    const end = take(endTag);
    if (end) {
      isBroken = open.pop()?.tag !== end[1];
      continue;
    }
    const section = current && take(cdata);
    if (section) {
      current.element.text += section[1];
      continue;
    }
    const run = take(textRun);
    isBroken = !run || (!current && run[0].trim() !== '');
    if (run && current) current.element.text += resolve(run[0]);
  }
  if (isBroken || open.length > 0 || elements.length === 0) {
    if (/^<!DOCTYPE/i.test(text.slice(at))) throw notXml('It has a document type, which is not allowed.');
    throw notXml(`It is not well-formed in line ${text.slice(0, at).split('\n').length}.`);
  }
  return elements;
}

function notXml(why: string): EngineError {
  return new EngineError(`The XML of the invoice could not be read. ${why}`);
}

function decode(data: Uint8Array): string {
  const start = Buffer.from(data.subarray(0, 200)).toString('latin1');
  const encoding = /^(?:\xef\xbb\xbf)?<\?xml\s[^>]*encoding\s*=\s*["']([\w.-]+)/.exec(start)?.[1] ?? 'UTF-8';
  try {
    if (!/^(?:utf-8|us-ascii)$/i.test(encoding)) throw new Error(encoding);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
    if (/[\ufffe\uffff]|(?![\t\n\r])\p{Cc}/u.test(text.replace(/[\x7f-\x9f]/g, '')))
      throw new Error('control character');
    return text;
  } catch (cause) {
    throw new EngineError('The XML of the invoice could not be read: expected UTF-8.', { cause });
  }
}

/** Returns the namespaces by prefix, with those that attributes declare. */
function namesOf(attributes: string, outer: Map<string, string>): Map<string, string> {
  const seen = new Set<string>();
  const names = new Map(outer);
  attribute.lastIndex = 0;
  for (let found = attribute.exec(attributes); found; found = attribute.exec(attributes)) {
    const [, name = '', double, single = ''] = found;
    if (seen.has(name)) throw notXml(`An element has the attribute ${name} twice.`);
    seen.add(name);
    const value = resolve(double ?? single);
    if (name === 'xmlns') names.set('', value);
    else if (name.startsWith('xmlns:')) names.set(name.slice(6), value);
  }
  return names;
}

function resolve(text: string): string {
  return text.replace(reference, (all, name, decimal, hex) => {
    if (name !== undefined) return entities[name] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    if (!(code > 0 && code <= 0x10ffff)) throw notXml('It has an unknown entity.');
    return String.fromCodePoint(code);
  });
}
