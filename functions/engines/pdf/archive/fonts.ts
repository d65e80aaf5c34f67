import { Cff } from './cff.ts';
import { macRomanEncoding, winAnsiEncoding } from './encodings.ts';
import type { PdfaFile } from './file.ts';
import { Bytes, type Dict, Keyword, Lexer, Name, Stream, type Value } from './lexer.ts';
import { type Level, NotApproved, type Problems } from './problems.ts';
import { TrueType } from './truetype.ts';
import { Type1 } from './type1.ts';

/** Codes that a document shows in a font. */
export interface FontUse {
  font: Dict;
  visible: Set<number>;
  /** Shown without painting, as the text layer of scanned pages is. */
  hidden: Set<number>;
}

interface Glyph {
  isPresent: boolean;
  isNotdef: boolean;
  width: number;
}

type FindGlyph = (code: number) => Glyph | undefined;

/** Returns the codes of a string in a font. */
export function codesOf(font: Dict, text: string, file: PdfaFile): number[] {
  const bytes = Buffer.from(text, 'latin1');
  if (file.name(font.get('Subtype')) !== 'Type0' || readCMap(font, file)?.bytes === 1) return [...bytes];
  if (bytes.length % 2 !== 0) throw new NotApproved('text with an odd number of bytes');
  return Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readUInt16BE(index * 2));
}

interface CMap {
  /** Length of each code. */
  bytes: number;
  cids: Map<number, number>;
  registry: string;
  wMode: number;
}

const cMaps = new WeakMap<Stream, CMap>();

/** Returns the map of codes to CIDs that a composite font embeds. Its codes are of one length. */
function readCMap(font: Dict, file: PdfaFile): CMap | undefined {
  const stream = file.stream(font.get('Encoding'));
  if (!stream) return undefined;
  const known = cMaps.get(stream);
  if (known) return known;
  const lengths = new Set<number>();
  const cids = new Map<number, number>();
  const entries = new Map<string, Value | undefined>();
  for (const { operator, values } of readPostScript(file.decode(stream))) {
    const step = operator === 'endcidchar' ? 2 : 3;
    if (operator === 'usecmap' || operator.endsWith('notdefrange')) throw new NotApproved('a CMap that uses another');
    if (operator === 'def' && values[0] instanceof Name) entries.set(values[0].text, values[1]);
    if (operator === 'endcodespacerange')
      for (const each of values) lengths.add(each instanceof Bytes ? each.text.length : 0);
    if (operator !== 'endcidchar' && operator !== 'endcidrange') continue;
    for (let index = 0; index + step <= values.length; index += step) {
      const [first, last, cid] = [codeOf(values[index]), codeOf(values[index + step - 2]), values[index + step - 1]];
      if (typeof cid !== 'number' || last < first || last > 65_535 || cid + last - first > 65_535)
        throw new NotApproved('a CMap with a wrong range');
      for (let code = first; code <= last; code++) cids.set(code, cid + code - first);
    }
  }
  const [bytes = 0] = lengths;
  if (lengths.size !== 1 || (bytes !== 1 && bytes !== 2)) throw new NotApproved('a CMap with codes of several lengths');
  const wMode = entries.get('WMode') ?? 0;
  const map = { bytes, cids, registry: systemOf(stream.dict, file), wMode: typeof wMode === 'number' ? wMode : -1 };
  if (file.name(stream.dict.get('CMapName')) === undefined || file.name(stream.dict.get('Type')) !== 'CMap')
    throw new NotApproved('a CMap without a name');
  if (map.wMode !== (file.number(stream.dict.get('WMode')) ?? 0)) throw new NotApproved('a CMap in two directions');
  cMaps.set(stream, map);
  return map;
}

/** Returns the character collection of a font or CMap. */
function systemOf(dict: Dict, file: PdfaFile): string {
  const info = file.dict(dict.get('CIDSystemInfo'));
  const [registry, ordering] = ['Registry', 'Ordering'].map((key) => file.text(info?.get(key)));
  const supplement = file.number(info?.get('Supplement'));
  if (!registry || !ordering || supplement === undefined)
    throw new NotApproved('a composite font without CIDSystemInfo');
  return `${registry}-${ordering}-${supplement}`;
}

function descriptorOf(font: Dict, file: PdfaFile): Dict {
  const descriptor = file.dict(font.get('FontDescriptor'));
  if (!descriptor) throw new NotApproved('the font is not embedded');
  return descriptor;
}

/** Returns the font program and the key that it has. */
function programOf(descriptor: Dict, file: PdfaFile) {
  const keys = ['FontFile', 'FontFile2', 'FontFile3'].filter((key) => descriptor.has(key));
  const [key] = keys;
  const stream = key === undefined ? undefined : file.stream(descriptor.get(key));
  if (key === undefined || !stream || keys.length > 1) throw new NotApproved('the font is not embedded');
  const subtype = file.name(stream.dict.get('Subtype'));
  if (key !== 'FontFile3' && subtype !== undefined) throw new NotApproved('the font program has an unknown subtype');
  return { key, subtype, data: file.decode(stream), dict: stream.dict };
}

/** Opens the program of a Type 1 font. */
export function openType1(font: Dict, file: PdfaFile) {
  const descriptor = descriptorOf(font, file);
  const { key, data, subtype, dict } = programOf(descriptor, file);
  if (key === 'FontFile') {
    const program = readFont(() => new Type1(data, file.number(dict.get('Length1')) ?? 0));
    const find = (name: string): Glyph | undefined => {
      const width = program.width(name);
      return width === undefined ? undefined : { isPresent: true, isNotdef: name === '.notdef', width };
    };
    return { descriptor, own: program.encoding, names: program.names, find };
  }
  if (key !== 'FontFile3' || subtype !== 'Type1C') throw new NotApproved('a Type 1 font with an unknown program');
  const program = readFont(() => new Cff(data));
  if (program.isCid) throw new NotApproved('a Type 1 font with a CID program');
  const find = (name: string): Glyph | undefined => {
    const glyph = program.glyph(name);
    if (glyph === undefined) return undefined;
    return { isPresent: true, isNotdef: glyph === 0, width: readFont(() => program.width(glyph)) };
  };
  return { descriptor, own: program.encoding, names: program.charset.map(String), find };
}

/** Opens the program of a CID font. */
export function openCid(cid: Dict, file: PdfaFile): { descriptor: Dict; find: FindGlyph; cids: number[] } {
  const descriptor = descriptorOf(cid, file);
  const { key, data, subtype } = programOf(descriptor, file);
  const kind = file.name(cid.get('Subtype'));
  if (kind === 'CIDFontType2' && key === 'FontFile2') {
    const program = readFont(() => new TrueType(data));
    readFont(() => program.checkOutlines());
    const mapping = file.get(cid.get('CIDToGIDMap'));
    const map = mapping instanceof Stream ? file.decode(mapping) : undefined;
    if (!map && mapping !== null && file.name(mapping) !== 'Identity') throw new NotApproved('an unknown CIDToGIDMap');
    const glyphOf = (code: number) => (map ? (code * 2 + 1 < map.length ? map.readUInt16BE(code * 2) : 0) : code);
    const find = (code: number): Glyph => {
      const glyph = glyphOf(code);
      return { isPresent: glyph < program.glyphs, isNotdef: glyph === 0, width: readFont(() => program.width(glyph)) };
    };
    const count = map ? Math.floor(map.length / 2) : program.glyphs;
    const cids = Array.from({ length: count }, (_, code) => code).filter(
      (code) => !map || code === 0 || glyphOf(code) > 0,
    );
    return { descriptor, find, cids };
  }
  if (kind !== 'CIDFontType0' || key !== 'FontFile3' || subtype !== 'CIDFontType0C')
    throw new NotApproved('a composite font with an unknown program');
  const program = readFont(() => new Cff(data));
  const find = (code: number): Glyph | undefined => {
    const glyph = program.isCid ? program.glyph(code) : code < program.glyphs ? code : undefined;
    if (glyph === undefined) return undefined;
    return { isPresent: true, isNotdef: glyph === 0, width: readFont(() => program.width(glyph)) };
  };
  return { descriptor, find, cids: program.isCid ? program.charset.map(Number) : [...program.charset.keys()] };
}

/** Returns the list of the glyphs of a Type 1 font. */
export function charSetOf(names: string[]): string {
  return names
    .filter((name) => name !== '.notdef')
    .map((name) => `/${name}`)
    .join('');
}

/** Checks the fonts of a document with the codes that it shows. */
export class FontCheck {
  readonly #file: PdfaFile;
  readonly #problems: Problems;
  readonly #level: Level;

  constructor(file: PdfaFile, problems: Problems, level: Level) {
    this.#file = file;
    this.#problems = problems;
    this.#level = level;
  }

  check({ font, visible, hidden }: FontUse): void {
    const file = this.#file;
    if (file.name(font.get('Type')) !== 'Font') this.#add('6.3.2', '6.2.11.2', 'a font has no Type Font');
    const subtype = file.name(font.get('Subtype'));
    const base = file.name(font.get('BaseFont'));
    if (subtype !== 'Type3' && base === undefined) this.#add('6.3.2', '6.2.11.2', 'a font has no BaseFont');
    const all = new Set([...visible, ...hidden]);
    this.#problems.within(`font ${(base ?? subtype ?? '').slice(0, 60)}`, () => {
      if (this.#level === '2u') this.#checkUnicode(font, subtype, all);
      else if (font.has('ToUnicode')) this.#toUnicode(font);
      if (all.size === 0 && subtype === 'Type3') return;
      if (subtype === 'Type0') this.#checkComposite(font, visible);
      else if (subtype === 'TrueType') this.#checkTrueType(font, visible);
      else if (subtype === 'Type1' || subtype === 'MMType1') this.#checkType1(font, visible);
      else if (subtype === 'Type3') this.#checkType3(font, visible);
      else this.#add('6.3.2', '6.2.11.2', 'the type of a font is unknown');
    });
  }

  #add(first: string, later: string, message: string): void {
    this.#problems.add(first, later, message);
  }

  #checkGlyphs(codes: Set<number>, find: FindGlyph, width: (code: number) => number | undefined): void {
    for (const code of codes) {
      const glyph = find(code);
      const wanted = width(code);
      if (!glyph?.isPresent) this.#add('6.3.5', '6.2.11.4.1', 'the font program lacks glyphs that are shown');
      else if (glyph.isNotdef) this.#add('6.3.5', '6.2.11.8', 'the glyph .notdef is shown');
      else if (wanted === undefined || Math.abs(wanted - glyph.width) > 1)
        this.#add('6.3.6', '6.2.11.5', 'the widths of the font differ from its program');
    }
  }

  #simpleWidth(font: Dict): (code: number) => number | undefined {
    const file = this.#file;
    const [first, last] = [file.number(font.get('FirstChar')), file.number(font.get('LastChar'))];
    const widths = file.array(font.get('Widths'));
    if (first === undefined || last === undefined || widths?.length !== last - first + 1) {
      this.#add('6.3.2', '6.2.11.2', 'FirstChar, LastChar or Widths of a font are missing or wrong');
      return () => undefined;
    }
    return (code) => file.number(widths[code - first]);
  }

  #checkTrueType(font: Dict, visible: Set<number>): void {
    const file = this.#file;
    const descriptor = descriptorOf(font, file);
    const { key, data } = programOf(descriptor, file);
    if (key !== 'FontFile2') throw new NotApproved('a TrueType font without a TrueType program');
    const program = readFont(() => new TrueType(data));
    program.checkOutlines();
    const flags = file.number(descriptor.get('Flags')) ?? 0;
    const isSymbolic = (flags & 4) !== 0;
    const cmap = (platform: number, encoding: number) =>
      program.cmaps.find((each) => each.platform === platform && each.encoding === encoding);
    const [symbols, unicode, mac] = [cmap(3, 0), cmap(3, 1), cmap(1, 0)];
    let glyphOf: (code: number) => number;
    if (isSymbolic) {
      if (font.has('Encoding')) this.#add('6.3.7', '6.2.11.6', 'a symbolic TrueType font has an Encoding');
      if (program.cmaps.length !== 1 && (this.#problems.part === 1 || !symbols))
        this.#add('6.3.7', '6.2.11.6', 'a symbolic TrueType font has several character maps');
      const bases = [0, 0xf000, 0xf100, 0xf200];
      glyphOf = (code) =>
        symbols
          ? (bases.map((each) => symbols.lookup(each + code)).find((glyph) => glyph > 0) ?? 0)
          : (mac?.lookup(code) ?? 0);
    } else {
      const encoding = file.name(font.get('Encoding'));
      if (encoding !== 'WinAnsiEncoding' && encoding !== 'MacRomanEncoding')
        this.#add('6.3.7', '6.2.11.6', 'a non-symbolic TrueType font has another encoding than WinAnsi or MacRoman');
      if (program.cmaps.length === 0 || (symbols && program.cmaps.length === 1))
        this.#add('6.3.7', '6.2.11.6', 'a non-symbolic TrueType font has no character map');
      const decoder = new TextDecoder(encoding === 'MacRomanEncoding' ? 'macintosh' : 'windows-1252');
      const codes = encoding === 'MacRomanEncoding' ? macRomanEncoding : winAnsiEncoding;
      glyphOf = (code) => {
        if (codes[code] === undefined) return 0;
        if (unicode) return unicode.lookup(decoder.decode(Uint8Array.of(code)).codePointAt(0) ?? 0);
        const byMac = encoding === 'MacRomanEncoding' ? code : macRomanEncoding.indexOf(codes[code]);
        return byMac >= 0 ? (mac?.lookup(byMac) ?? 0) : 0;
      };
    }
    const find = (code: number) => {
      const glyph = readFont(() => glyphOf(code));
      return { isPresent: glyph < program.glyphs, isNotdef: glyph === 0, width: readFont(() => program.width(glyph)) };
    };
    this.#checkGlyphs(visible, find, this.#simpleWidth(font));
  }

  #checkType1(font: Dict, visible: Set<number>): void {
    const file = this.#file;
    const { descriptor, own, names, find } = openType1(font, file);
    this.#checkCharSet(font, descriptor, names);
    const encoding = this.#namesOf(font, own);
    this.#checkGlyphs(visible, (code) => find(encoding[code] ?? '.notdef'), this.#simpleWidth(font));
  }

  #checkCharSet(font: Dict, descriptor: Dict, names: string[]): void {
    const file = this.#file;
    const listed = file.text(descriptor.get('CharSet'));
    const isSubset = /^[A-Z]{6}\+/.test(file.name(font.get('BaseFont')) ?? '');
    if (listed === undefined) {
      if (isSubset && this.#problems.part === 1) this.#add('6.3.5', '6.2.11.4.2', 'a subset has no CharSet');
      return;
    }
    const expected = names.filter((name) => name !== '.notdef').toSorted();
    const found = listed.split('/').slice(1).toSorted();
    if (expected.join('/') !== found.join('/'))
      this.#add('6.3.5', '6.2.11.4.2', 'the CharSet of a font differs from its program');
  }

  /** Returns the glyph names of a simple font by code. */
  #namesOf(font: Dict, own: (string | undefined)[]): (string | undefined)[] {
    const file = this.#file;
    const encoding = file.get(font.get('Encoding'));
    const named = (name: string | undefined) => {
      if (name === 'WinAnsiEncoding') return winAnsiEncoding;
      if (name === 'MacRomanEncoding') return macRomanEncoding;
      if (name === undefined) return own;
      throw new NotApproved(`a font with encoding ${name}`);
    };
    if (!(encoding instanceof Map)) return named(file.name(encoding));
    const names = [...named(file.name(encoding.get('BaseEncoding')))];
    let code = 0;
    for (const value of file.array(encoding.get('Differences')) ?? []) {
      const each = file.get(value);
      if (typeof each === 'number') code = each;
      else names[code++] = file.name(each);
    }
    return names;
  }

  #checkType3(font: Dict, visible: Set<number>): void {
    const file = this.#file;
    const procs = file.dict(font.get('CharProcs'));
    const names = this.#namesOf(font, []);
    const find = (code: number) => {
      const name = names[code];
      const stream = name === undefined ? undefined : file.stream(procs?.get(name));
      if (!stream) return undefined;
      const width = new Lexer(file.decode(stream), file.limits).token();
      if (typeof width !== 'number') throw new NotApproved('a glyph that does not begin with its width');
      return { isPresent: true, isNotdef: name === '.notdef', width };
    };
    this.#checkGlyphs(visible, find, this.#simpleWidth(font));
  }

  #checkComposite(font: Dict, visible: Set<number>): void {
    const file = this.#file;
    const encoding = file.name(font.get('Encoding'));
    const map = readCMap(font, file);
    if (!map && encoding !== 'Identity-H' && encoding !== 'Identity-V')
      throw new NotApproved('a composite font with another encoding than Identity');
    const descendants = file.array(font.get('DescendantFonts'));
    const cid = file.dict(descendants?.[0]);
    if (!cid || descendants?.length !== 1 || file.name(cid.get('Type')) !== 'Font')
      throw new NotApproved('a composite font without a descendant');
    if (file.name(cid.get('BaseFont')) === undefined) this.#add('6.3.2', '6.2.11.2', 'a font has no BaseFont');
    const system = systemOf(cid, file);
    if (map && map.registry !== system)
      this.#add('6.3.3.1', '6.2.11.3.1', 'a font and its CMap are of other collections');
    if (file.name(cid.get('Subtype')) === 'CIDFontType2' && !cid.has('CIDToGIDMap'))
      this.#add('6.3.3.2', '6.2.11.3.2', 'a CID font has no CIDToGIDMap');
    const { descriptor, find, cids } = openCid(cid, file);
    this.#checkCidSet(cid, descriptor, cids);
    const shown = map ? new Set([...visible].map((code) => map.cids.get(code) ?? 0)) : visible;
    this.#checkGlyphs(shown, find, this.#cidWidths(cid));
  }

  #checkCidSet(cid: Dict, descriptor: Dict, cids: number[]): void {
    const file = this.#file;
    const stream = file.stream(descriptor.get('CIDSet'));
    const isSubset = /^[A-Z]{6}\+/.test(file.name(cid.get('BaseFont')) ?? '');
    if (!stream) {
      if (isSubset && this.#problems.part === 1) this.#add('6.3.5', '6.2.11.4.2', 'a subset has no CIDSet');
      return;
    }
    if (!file.decode(stream).equals(cidSetOf(cids)))
      this.#add('6.3.5', '6.2.11.4.2', 'the CIDSet of a font differs from its program');
  }

  #cidWidths(cid: Dict): (code: number) => number {
    const file = this.#file;
    const fallback = file.number(cid.get('DW')) ?? 1000;
    const widths = new Map<number, number>();
    const list = (file.array(cid.get('W')) ?? []).map((each) => file.get(each));
    for (let index = 0; index < list.length; ) {
      const [first, second, third] = list.slice(index, index + 3);
      if (typeof first !== 'number') throw new NotApproved('a CID font with wrong widths');
      if (Array.isArray(second)) {
        for (const [place, width] of second.entries()) widths.set(first + place, file.number(width) ?? Number.NaN);
        index += 2;
      } else {
        if (typeof second !== 'number' || typeof third !== 'number' || second > 65_535)
          throw new NotApproved('a CID font with wrong widths');
        for (let code = first; code <= second; code++) widths.set(code, third);
        index += 3;
      }
    }
    return (code) => widths.get(code) ?? fallback;
  }

  #checkUnicode(font: Dict, subtype: string | undefined, codes: Set<number>): void {
    const file = this.#file;
    const map = font.has('ToUnicode') ? this.#toUnicode(font) : undefined;
    const encoding = file.name(font.get('Encoding'));
    const known =
      subtype === 'Type0'
        ? undefined
        : encoding === 'WinAnsiEncoding'
          ? winAnsiEncoding
          : encoding === 'MacRomanEncoding'
            ? macRomanEncoding
            : undefined;
    for (const code of codes) {
      const text = map?.get(code);
      if (
        text === undefined
          ? map !== undefined || known?.[code] === undefined
          : text === '' || /[\0\ufffe\ufeff]/.test(text)
      )
        this.#add('', '6.2.11.7.2', 'the font does not tell which characters its glyphs are');
    }
  }

  /** Reads a ToUnicode map. */
  #toUnicode(font: Dict): Map<number, string> {
    const file = this.#file;
    const stream = file.stream(font.get('ToUnicode'));
    if (!stream) throw new NotApproved('a ToUnicode map that is no stream');
    return readFont(() => readToUnicode(file.decode(stream)));
  }
}

const loose = { maxReal: 3.4e38, maxString: 65_535, maxArray: 65_535, maxDict: 65_535 };
const maxMapped = 200_000;

/** Returns the texts of codes by a ToUnicode map. */
export function readToUnicode(data: Buffer): Map<number, string> {
  const map = new Map<number, string>();
  const set = (code: number, text: string) => {
    if (map.size >= maxMapped) throw new NotApproved('a ToUnicode map of too many characters');
    map.set(code, text);
  };
  for (const { operator, values } of readPostScript(data)) {
    if (operator === 'endbfchar')
      for (let index = 0; index + 1 < values.length; index += 2)
        set(codeOf(values[index]), unicodeOf(values[index + 1]));
    if (operator !== 'endbfrange') continue;
    for (let index = 0; index + 2 < values.length; index += 3) {
      const [first, last] = [codeOf(values[index]), codeOf(values[index + 1])];
      const target = values[index + 2];
      if (last < first || last > 65_535) throw new NotApproved('a ToUnicode map with a wrong range');
      for (let code = first; code <= last; code++) {
        if (Array.isArray(target)) {
          const text = target[code - first];
          if (text !== undefined) set(code, unicodeOf(text));
        } else set(code, advance(unicodeOf(target), code - first));
      }
    }
  }
  return map;
}

/** Returns the operators of a CMap with the values before each. */
function* readPostScript(data: Buffer): Generator<{ operator: string; values: Value[] }> {
  // Comments say nothing about the mapping.
  const lexer = new Lexer(Buffer.from(data.toString('latin1').replace(/^%.*$/gm, ''), 'latin1'), loose);
  let values: Value[] = [];
  for (let item = lexer.value(false); item !== undefined; item = lexer.value(false)) {
    if (!(item instanceof Keyword)) values.push(item);
    else {
      yield { operator: item.text, values };
      values = [];
    }
  }
}

function codeOf(value: Value | undefined): number {
  if (!(value instanceof Bytes)) throw new NotApproved('a ToUnicode map with a wrong code');
  return Buffer.from(value.text, 'latin1').reduce((code, byte) => code * 256 + byte, 0);
}

function unicodeOf(value: Value | undefined): string {
  if (!(value instanceof Bytes)) throw new NotApproved('a ToUnicode map with a wrong text');
  return Buffer.from(value.text, 'latin1').swap16().toString('utf16le');
}

function advance(text: string, by: number): string {
  const last = text.length - 1;
  return text.slice(0, last) + String.fromCharCode(text.charCodeAt(last) + by);
}

/** Returns the bits of a CIDSet. */
export function cidSetOf(cids: number[]): Buffer {
  const highest = cids.reduce((most, cid) => Math.max(most, cid), 0);
  const set = Buffer.alloc((highest >> 3) + 1);
  for (const cid of cids) set[cid >> 3] = (set[cid >> 3] ?? 0) | (128 >> (cid & 7));
  return set;
}

/** Reads a font program, whose errors of bounds are those of the file. */
function readFont<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw new NotApproved('a damaged font program');
    throw error;
  }
}
