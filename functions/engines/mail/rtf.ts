import { decoderOf } from './charsets.ts';

/** What the dictionary of the compression begins with (MS-OXRTFCP). */
const preset =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx';
const windowBytes = 4096;
const maxBytes = 50 * 1024 ** 2;

/** Decompresses the rich text of a message (MS-OXRTFCP). Returns undefined if it is damaged. */
export function decompressRtf(bytes: Buffer): Buffer | undefined {
  if (bytes.length < 16) return undefined;
  const magic = bytes.toString('latin1', 8, 12);
  const size = Math.min(bytes.readUInt32LE(4), maxBytes);
  if (magic === 'MELA') return bytes.subarray(16, 16 + size);
  if (magic !== 'LZFu') return undefined;
  const window = Buffer.alloc(windowBytes);
  let write = window.write(preset, 'latin1');
  const output = Buffer.alloc(size);
  let length = 0;
  const put = (byte: number) => {
    window[write] = byte;
    write = (write + 1) % windowBytes;
    if (length < size) output[length++] = byte;
  };
  for (let at = 16; at < bytes.length && length < size; ) {
    const flags = bytes[at++] ?? 0;
    for (let bit = 0; bit < 8 && at < bytes.length; bit++) {
      if ((flags & (1 << bit)) === 0) {
        put(bytes[at++] ?? 0);
        continue;
      }
      const reference = bytes.length - at < 2 ? 0 : bytes.readUInt16BE(at);
      at += 2;
      const offset = reference >> 4;
      if (offset === write) return output.subarray(0, length);
      for (let index = 0; index < (reference & 15) + 2; index++) put(window[(offset + index) % windowBytes] ?? 0);
    }
  }
  return output.subarray(0, length);
}

/** Code pages of the character sets of fonts. */
const charsets: Record<number, number> = {
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

/** Destinations whose text is not part of the document. */
const hidden = new Set(
  'fonttbl colortbl stylesheet info pntext pict object listtable listoverridetable generator'.split(' '),
);

interface Group {
  isHidden: boolean;
  isTag: boolean;
  skips: boolean;
  font: number;
}

/**
 * Extracts the HTML or plain text that Outlook has put into rich text (MS-OXRTFEX). Returns undefined for rich text that is the
 * original form.
 */
export function unwrapRtf(bytes: Buffer): { html: string } | { text: string } | undefined {
  const rtf = bytes.toString('latin1');
  const kind = /\\from(html|text)/.exec(rtf.slice(0, 4096))?.[1];
  if (kind === undefined) return undefined;
  const ansi = Number(/\\ansicpg(\d+)/.exec(rtf.slice(0, 4096))?.[1] ?? 1252);
  const fonts = new Map<number, number>();
  for (const [, number, charset] of rtf.slice(0, 65_536).matchAll(/\{\\f(\d+)[^;{}]{0,200}?\\fcharset(\d+)/g))
    fonts.set(Number(number), charsets[Number(charset)] ?? ansi);
  const output: string[] = [];
  let pending: number[] = [];
  let page = ansi;
  const flush = () => {
    if (pending.length > 0) output.push(decoderOf(`cp${page}`).decode(Buffer.from(pending)));
    pending = [];
  };
  let group: Group = { isHidden: false, isTag: false, skips: false, font: -1 };
  const outer: Group[] = [];
  let skipAfterUnicode = 0;
  const put = (text: string) => {
    if (skipAfterUnicode > 0) {
      skipAfterUnicode -= 1;
      return;
    }
    if (group.isHidden || (group.skips && !group.isTag)) return;
    flush();
    output.push(text);
  };
  const token = /\\([a-z]+)(-?\d{1,10})? ?|\\'([\da-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/gi;
  for (const [, word, value, hex, symbol, brace, text] of rtf.matchAll(token)) {
    if (brace === '{') outer.push({ ...group });
    else if (brace === '}') {
      flush();
      group = outer.pop() ?? group;
    } else if (text !== undefined) {
      const shown = text.slice(skipAfterUnicode);
      skipAfterUnicode = Math.max(0, skipAfterUnicode - text.length);
      if (shown) put(shown);
    } else if (hex !== undefined) {
      if (skipAfterUnicode > 0) skipAfterUnicode -= 1;
      else if (!group.isHidden && (!group.skips || group.isTag)) {
        const wanted = fonts.get(group.font) ?? ansi;
        if (wanted !== page) flush();
        page = wanted;
        pending.push(Number.parseInt(hex, 16));
      }
    } else if (symbol !== undefined) {
      if (symbol === '*') group.isHidden = true;
      else if ('\\{}'.includes(symbol)) put(symbol);
      else if (symbol === '~') put(kind === 'html' ? '&nbsp;' : '\u00a0');
      else if (symbol === '_') put('-');
    } else if (word !== undefined) {
      if (word === 'htmltag' || word === 'mhtmltag') {
        group.isHidden = word === 'mhtmltag';
        group.isTag = word === 'htmltag';
      } else if (word === 'htmlrtf') group.skips = value !== '0';
      else if (hidden.has(word)) group.isHidden = true;
      else if (word === 'f' && value !== undefined) group.font = Number(value);
      else if (word === 'u' && value !== undefined) {
        put(String.fromCharCode((Number(value) + 65_536) % 65_536));
        skipAfterUnicode = 1;
      } else if (word === 'par' || word === 'line') put('\n');
      else if (word === 'tab') put('\t');
      else if (word in signs) put(signs[word] ?? '');
    }
  }
  flush();
  const result = output.join('').replace(/\0+$/, '');
  return kind === 'html' ? { html: result } : { text: result };
}

const signs: Record<string, string> = {
  lquote: '\u2018',
  rquote: '\u2019',
  ldblquote: '\u201c',
  rdblquote: '\u201d',
  bullet: '\u2022',
  endash: '\u2013',
  emdash: '\u2014',
};
