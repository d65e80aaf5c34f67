import { globSync, readFileSync } from 'node:fs';
import { StandardFontEmbedder, StandardFonts } from '@cantoo/pdf-lib';
import type { Matrix } from '../marks/geometry.ts';
import { isDict, isReference, type PdfDict, type PdfObjects, type PdfValue } from '../objects.ts';
import { type CMap, readCMap, systemCMap } from './cmap.ts';
import { UnreadableContent } from './tokens.ts';

/** A character code in a string that is shown. */
export interface Code {
  bytes: Buffer;
  /** Undefined if the font does not tell. */
  text: string | undefined;
  /** How far it moves the next one, in units of the font size: along the line, which is down for vertical fonts. */
  advance: number;
  /** Where the glyph starts, from the current point. */
  origin: [x: number, y: number];
  width: number;
  isSpace: boolean;
}

export interface Font {
  codes(string: Buffer): Code[];
  isVertical: boolean;
  /** In units of the font size. */
  ascent: number;
  descent: number;
  /** References of the streams that draw the glyphs of a Type 3 font. */
  glyphs: { reference: string; resources: PdfValue | undefined }[];
  matrix: Matrix;
}

const standardNames: readonly string[] = Object.values(StandardFonts);
const aliases: Record<string, string> = { Arial: 'Helvetica', TimesNewRoman: 'Times-Roman', CourierNew: 'Courier' };

/** Reads a font. Throws if its strings cannot be split into characters. */
export function readFont(value: PdfValue | undefined, pdf: PdfObjects): Font {
  const font = pdf.dict(value);
  if (!font) throw new UnreadableContent('a font is missing');
  const toUnicode = streamCMap(font['/ToUnicode'], pdf);
  return font['/Subtype'] === '/Type0' ? compositeFont(font, toUnicode, pdf) : simpleFont(font, toUnicode, pdf);
}

function streamCMap(value: PdfValue | undefined, pdf: PdfObjects): CMap | undefined {
  return isReference(value) && pdf.isStream(value) ? readCMap(pdf.stream(value)) : undefined;
}

/** Returns a text unless it stands for a character that the producer did not know. */
function known(text: string | undefined): string | undefined {
  return text === undefined || /^[\0\ufffd]*$/.test(text) ? undefined : text;
}

const numberIn = (pdf: PdfObjects, value: PdfValue | undefined) => {
  const found = pdf.lookup(value);
  return typeof found === 'number' ? found : undefined;
};

/** Returns how far glyphs reach above and below the line. Broken values are common. */
function extentOf(descriptor: PdfDict | undefined, pdf: PdfObjects): { ascent: number; descent: number } {
  const box = pdf.array(descriptor?.['/FontBBox']).map((each) => numberIn(pdf, each) ?? 0);
  const ascent = (numberIn(pdf, descriptor?.['/Ascent']) || box[3] || 900) / 1000;
  const descent = (numberIn(pdf, descriptor?.['/Descent']) || box[1] || -250) / 1000;
  return { ascent: Math.min(1.1, Math.max(0.7, ascent)), descent: Math.max(-0.4, Math.min(-0.2, -Math.abs(descent))) };
}

function simpleFont(font: PdfDict, toUnicode: CMap | undefined, pdf: PdfObjects): Font {
  const descriptor = pdf.dict(font['/FontDescriptor']);
  const isType3 = font['/Subtype'] === '/Type3';
  const [a = 0.001, b = 0, c = 0, d = 0.001, e = 0, f = 0] = pdf
    .array(font['/FontMatrix'])
    .map((each) => numberIn(pdf, each) ?? 0);
  const matrix: Matrix = isType3 ? [a, b, c, d, e, f] : [0.001, 0, 0, 0.001, 0, 0];
  const names = encodingOf(font, descriptor, pdf);
  const widths = pdf.array(font['/Widths']).map((each) => numberIn(pdf, each) ?? 0);
  const first = numberIn(pdf, font['/FirstChar']) ?? 0;
  const missing = numberIn(pdf, descriptor?.['/MissingWidth']) ?? 0;
  const standard = widths.length === 0 && !isType3 ? nearestStandardFont(font['/BaseFont']) : undefined;
  const codes = Array.from({ length: 256 }, (_, code): Code => {
    const text = known(toUnicode?.texts.get(code)) ?? names[code];
    const width =
      (standard ? widthIn(standard, text) : (widths[code - first] ?? missing)) * (isType3 ? Math.abs(a) : 0.001);
    return { bytes: Buffer.of(code), text, advance: width, origin: [0, 0], width, isSpace: code === 32 };
  });
  const box = pdf.array(font['/FontBBox']).map((each) => numberIn(pdf, each) ?? 0);
  const extent =
    isType3 && (box[3] ?? 0) > (box[1] ?? 0)
      ? { ascent: (box[3] ?? 0) * d, descent: (box[1] ?? 0) * d }
      : extentOf(descriptor, pdf);
  const drawn = isType3 ? Object.values(pdf.dict(font['/CharProcs']) ?? {}).filter(isReference) : [];
  return {
    codes: (string) => Array.from(string, (code) => codes[code]).filter((code) => code !== undefined),
    isVertical: false,
    ...extent,
    glyphs: drawn.map((reference) => ({ reference, resources: font['/Resources'] })),
    matrix,
  };
}

function nearestStandardFont(name: PdfValue | undefined): StandardFontEmbedder {
  const given = String(name ?? '')
    .replace(/^\/(?:[A-Z]{6}\+)?/, '')
    .replace(/,/, '-')
    .replace(/(?:PS)?MT\b/, '')
    .replace('Italic', 'Oblique');
  const [family = '', style = ''] = given.split('-');
  const candidates = [
    given,
    given.replace('Oblique', 'Italic'),
    `${aliases[family] ?? family}${style ? `-${style}` : ''}`,
    aliases[family] ?? 'Helvetica',
  ];
  return standardFont(candidates.find(isStandardName) ?? StandardFonts.Helvetica);
}

type StandardName = Parameters<typeof StandardFontEmbedder.for>[0];

function isStandardName(name: string): name is StandardName {
  return standardNames.includes(name);
}

/** Returns one of the 14 standard fonts. */
function standardFont(name: string): StandardFontEmbedder {
  if (!isStandardName(name)) throw new Error(`${name} is no standard font.`);
  return StandardFontEmbedder.for(name);
}

function widthIn({ encoding, font }: StandardFontEmbedder, text: string | undefined): number {
  const point = text?.codePointAt(0);
  if (point === undefined || !encoding.canEncodeUnicodeCodePoint(point)) return 0;
  return font.getWidthOfGlyph(encoding.encodeUnicodeCodePoint(point).name) ?? 0;
}

/** The upper half of Adobe's standard encoding, from 0xa1. A dot is a code without a character. */
const standardUpper = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ.–†‡·.¶•‚„”»…‰.¿.`´ˆ˜¯˘˙¨.˚¸.˝˛ˇ—................Æ.ª....ŁØŒº.....æ...ı..łøœß";

function baseEncoding(name: PdfValue | undefined): (string | undefined)[] | undefined {
  const decoded = (label: string) => {
    const decoder = new TextDecoder(label);
    return Array.from({ length: 256 }, (_, code) => (code < 32 ? undefined : decoder.decode(Uint8Array.of(code))));
  };
  if (name === '/WinAnsiEncoding') return decoded('windows-1252');
  if (name === '/MacRomanEncoding') return decoded('macintosh');
  if (name !== '/StandardEncoding') return undefined;
  return Array.from({ length: 256 }, (_, code) => {
    if (code === 0x27) return '’';
    if (code === 0x60) return '‘';
    if (code >= 32 && code < 127) return String.fromCharCode(code);
    const upper = code >= 0xa1 ? [...standardUpper][code - 0xa1] : undefined;
    return upper === '.' ? undefined : upper;
  });
}

/** Returns the text of each code, as far as the encoding of a simple font tells. */
function encodingOf(font: PdfDict, descriptor: PdfDict | undefined, pdf: PdfObjects): (string | undefined)[] {
  const encoding = pdf.lookup(font['/Encoding']);
  const dict = isDict(encoding) ? encoding : {};
  const base = baseEncoding(isDict(encoding) ? dict['/BaseEncoding'] : encoding);
  const isSymbolic = ((numberIn(pdf, descriptor?.['/Flags']) ?? 0) & 4) !== 0;
  const result = [...(base ?? builtInEncoding(font, descriptor, isSymbolic, pdf))];
  let code = 0;
  for (const each of pdf.array(dict['/Differences'])) {
    const value = pdf.lookup(each);
    if (typeof value === 'number') code = value;
    else if (typeof value === 'string') result[code++] = textOfGlyph(value.slice(1));
  }
  return result;
}

function builtInEncoding(
  font: PdfDict,
  descriptor: PdfDict | undefined,
  isSymbolic: boolean,
  pdf: PdfObjects,
): (string | undefined)[] {
  const name = String(font['/BaseFont'] ?? '').replace(/^\/(?:[A-Z]{6}\+)?/, '');
  const own = name === 'Symbol' || name === 'ZapfDingbats' ? standardFont(name) : undefined;
  if (own) {
    const { encoding } = own;
    const result: (string | undefined)[] = [];
    for (const point of encoding.supportedCodePoints)
      result[encoding.encodeUnicodeCodePoint(point).code] = String.fromCodePoint(point);
    return result;
  }
  const file = descriptor?.['/FontFile'];
  if (isReference(file) && pdf.isStream(file)) {
    // The first part of a Type 1 font is a program in clear.
    const program = pdf.stream(file).toString('latin1', 0, 60_000);
    const result: (string | undefined)[] = [];
    for (const [, code, glyph = ''] of program.matchAll(/\bdup\s+(\d{1,3})\s*\/([^\s/]+)\s+put\b/g))
      result[Number(code)] = textOfGlyph(glyph);
    if (result.length > 0) return result;
  }
  const isEmbedded = ['/FontFile', '/FontFile2', '/FontFile3'].some((key) => descriptor?.[key] !== undefined);
  if (font['/Subtype'] === '/Type3' || (isSymbolic && isEmbedded)) return [];
  return baseEncoding('/StandardEncoding') ?? [];
}

let glyphNames: Map<string, string> | undefined;

/** Reads the names of glyphs that Ghostscript knows, if it is installed, in addition to those of the standard fonts. */
function readGlyphNames(): Map<string, string> {
  const names = new Map<string, string>();
  for (const path of globSync('/usr/share/ghostscript/*/Resource/Decoding/Unicode')) {
    for (const line of readFileSync(path, 'latin1').split('\n')) {
      const [, code = '', all] = /^16#([0-9A-F]{4})\s+(.*)$/.exec(line) ?? [];
      for (const name of all?.trim().split(/\s+/) ?? [])
        names.set(name, String.fromCharCode(Number.parseInt(code, 16)));
    }
  }
  for (const font of [StandardFonts.ZapfDingbats, StandardFonts.Symbol, StandardFonts.Helvetica]) {
    const { encoding } = standardFont(font);
    for (const point of encoding.supportedCodePoints)
      names.set(encoding.encodeUnicodeCodePoint(point).name, String.fromCodePoint(point));
  }
  for (const [name, text] of Object.entries({ ff: 'ff', fi: 'fi', fl: 'fl', ffi: 'ffi', ffl: 'ffl', nbspace: ' ' }))
    names.set(name, text);
  return names;
}

/** Returns the text of a glyph by its name, as Adobe's rules for names have it. */
export function textOfGlyph(name: string): string | undefined {
  glyphNames ??= readGlyphNames();
  const names = glyphNames;
  const [plain = ''] = name.split('.');
  const parts = (names.has(plain) ? [plain] : plain.split('_')).map((part) => {
    const known = names.get(part);
    if (known !== undefined) return known;
    const [, hex] = /^uni((?:[0-9A-F]{4})+)$/.exec(part) ?? /^u([0-9A-F]{4,6})$/.exec(part) ?? [];
    if (hex === undefined) return undefined;
    const digits = part.startsWith('uni') ? (hex.match(/.{4}/g) ?? []) : [hex];
    return digits.map((each) => codePoint(Number.parseInt(each, 16))).join('');
  });
  return parts.includes(undefined) || plain === '' ? undefined : parts.join('');
}

function codePoint(point: number): string {
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
}

function compositeFont(font: PdfDict, toUnicode: CMap | undefined, pdf: PdfObjects): Font {
  const descendant = pdf.dict(pdf.array(font['/DescendantFonts'])[0]);
  if (!descendant) throw new UnreadableContent('a composite font has no descendant');
  const encoding = font['/Encoding'];
  const name = pdf.lookup(encoding);
  const cmap = typeof name === 'string' ? systemCMap(name.slice(1)) : streamCMap(encoding, pdf);
  if (!cmap) throw new UnreadableContent('the encoding of a composite font is unknown');
  const system = pdf.dict(descendant['/CIDSystemInfo']);
  const collection = [system?.['/Registry'], system?.['/Ordering']]
    .map((each) => String(pdf.lookup(each)).slice(2))
    .join('-');
  const characters = toUnicode ? undefined : charactersOf(collection);
  const widths = widthsOf(descendant['/W'], 1, pdf);
  const vertical = widthsOf(descendant['/W2'], 3, pdf);
  const usual = numberIn(pdf, descendant['/DW']) ?? 1000;
  const [usualY = 880, usualAdvance = -1000] = pdf.array(descendant['/DW2']).map((each) => numberIn(pdf, each) ?? 0);
  const codes = (string: Buffer): Code[] =>
    cmap.split(string).map(({ bytes, code }) => {
      const cid = cmap.cids(code, bytes.length) ?? 0;
      const width = (widths.get(cid)?.[0] ?? usual) / 1000;
      const [advance = usualAdvance, x = width * 500, y = usualY] = vertical.get(cid) ?? [];
      return {
        bytes,
        text: known(toUnicode?.texts.get(code)) ?? characters?.[cid],
        advance: cmap.isVertical ? advance / 1000 : width,
        origin: cmap.isVertical ? [-x / 1000, -y / 1000] : [0, 0],
        width,
        isSpace: bytes.length === 1 && code === 32,
      };
    });
  const matrix: Matrix = [0.001, 0, 0, 0.001, 0, 0];
  return {
    codes,
    isVertical: cmap.isVertical,
    ...extentOf(pdf.dict(descendant['/FontDescriptor']), pdf),
    glyphs: [],
    matrix,
  };
}

/** Returns the characters of a collection by CID, as poppler's data has them. */
function charactersOf(collection: string): (string | undefined)[] | undefined {
  if (!/^Adobe-(?:CNS1|GB1|Japan1|Japan2|Korea1|KR)$/.test(collection)) return undefined;
  const [path] = globSync(`/usr/share/poppler/cidToUnicode/${collection}`);
  if (path === undefined) return undefined;
  return readFileSync(path, 'latin1')
    .split('\n')
    .map((line) => {
      const point = Number.parseInt(line, 16);
      return point > 0 ? codePoint(point) : undefined;
    });
}

/** Reads an array of widths, which has lists and ranges, with a number of values for each CID. */
function widthsOf(value: PdfValue | undefined, size: number, pdf: PdfObjects): Map<number, number[]> {
  const found = new Map<number, number[]>();
  const all = pdf.array(value).map((each) => pdf.lookup(each));
  for (let index = 0; index + 1 < all.length; ) {
    const [first, second] = [all[index], all[index + 1]];
    if (typeof first !== 'number') throw new UnreadableContent('the widths of a font are damaged');
    if (Array.isArray(second)) {
      const values = second.map((each) => numberIn(pdf, each) ?? 0);
      for (let at = 0; at < values.length; at += size) found.set(first + at / size, values.slice(at, at + size));
      index += 2;
    } else {
      const values = all.slice(index + 2, index + 2 + size).map((each) => numberIn(pdf, each) ?? 0);
      for (let cid = first; cid <= Math.min(Number(second), 65_535); cid++) found.set(cid, values);
      index += 2 + size;
    }
  }
  return found;
}
