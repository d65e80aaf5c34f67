import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { Cff } from '../archive/cff.ts';
import { macRomanEncoding, standardEncoding, winAnsiEncoding } from '../archive/encodings.ts';
import { NotApproved } from '../archive/problems.ts';
import { TrueType } from '../archive/truetype.ts';
import type { Job } from '../job.ts';
import { isDict, isReference, type PdfDict, type PdfObjects } from '../objects.ts';
import { textOfGlyph } from '../redact/fonts.ts';
import { FontUses, type Use } from './font-uses.ts';

/** Smaller ones gain nothing. */
const minBytes = 4_000;
/** What is left of a font program at most. Others are subsets already. */
const maxShare = 0.9;
/** Some character maps are searched from the start, and many fonts may share one. */
const maxLookups = 100_000;
const prefixForm = /^\/[A-Z]{6}\+/;
/** Characters that have two code points. Readers do not agree on which they look for. */
const twins = [
  [0x2206, 0x0394],
  [0x2126, 0x03a9],
  [0x00b5, 0x03bc],
  [0x2215, 0x2044],
  [0x2219, 0x00b7],
  [0x00af, 0x02c9],
  [0x00ad, 0x002d],
  [0x00a0, 0x0020],
];
const ligatures: Record<string, number> = { ff: 0xfb00, fi: 0xfb01, fl: 0xfb02, ffi: 0xfb03, ffl: 0xfb04 };

/** Changes that remove the outlines of unused glyphs from fonts. */
export interface Subsets {
  programs: Map<string, Buffer>;
  names: Map<string, PdfDict>;
}

/**
 * Finds the glyphs that no text uses, and returns the fonts without their outlines. Glyphs keep their numbers, so that
 * text, widths and encodings stay as they are. Fonts of forms, and all whose use is not sure, are left out.
 */
export function findSubsets(pdf: PdfObjects, { signal }: Job): Subsets {
  const subsets: Subsets = { programs: new Map(), names: new Map() };
  const uses = new FontUses(pdf, signal);
  if (!uses.isComplete) return subsets;
  for (const [program, { fonts, descriptors }] of programsOf(pdf)) {
    signal.throwIfAborted();
    if (uses.isKept(program)) continue;
    const made = orUndefined(() => subsetOf(program, fonts, uses, pdf));
    if (!made) continue;
    subsets.programs.set(program, made);
    const prefix = prefixOf(made);
    for (const [reference, key] of [
      ...fonts.map((font) => [font, '/BaseFont'] as const),
      ...descriptors.map((descriptor) => [descriptor, '/FontName'] as const),
    ]) {
      const name = pdf.lookup(pdf.dict(reference)?.[key]);
      if (typeof name === 'string' && name.startsWith('/') && !prefixForm.test(name))
        subsets.names.set(reference, { [key]: `/${prefix}+${name.slice(1)}` });
    }
  }
  return subsets;
}

export function applySubsets({ programs, names }: Subsets, pdf: PdfObjects): void {
  for (const [reference, data] of programs) {
    const dict = pdf.dict(reference) ?? {};
    pdf.setStream(reference, { ...dict, ...(dict['/Length1'] === undefined ? {} : { '/Length1': data.length }) }, data);
  }
  for (const [reference, entries] of names) pdf.update(reference, entries);
}

interface Program {
  /** References of simple fonts, or of composite ones with their descendants. */
  fonts: string[];
  descriptors: string[];
}

/** Returns the font programs that can be reduced. Each object that leads to them has a reference. */
function programsOf(pdf: PdfObjects): Map<string, Program> {
  const all = [...pdf.reachable()];
  const programs = new Map<string, Program>();
  const byDescriptor = new Map<string, Program>();
  const lost = new Set<Program>();
  for (const reference of all) {
    const dict = pdf.dict(reference) ?? {};
    for (const key of ['/FontFile2', '/FontFile3']) {
      const file = dict[key];
      if (!isReference(file) || !pdf.isStream(file)) continue;
      const program = programs.get(file) ?? { fonts: [], descriptors: [] };
      programs.set(file, program);
      program.descriptors.push(reference);
      byDescriptor.set(reference, program);
    }
  }
  const byFont = new Map<string, Program>();
  for (const reference of all) {
    const descriptor = pdf.dict(reference)?.['/FontDescriptor'];
    const program = isReference(descriptor) ? byDescriptor.get(descriptor) : undefined;
    program?.fonts.push(reference);
    if (program) byFont.set(reference, program);
  }
  for (const reference of all)
    for (const descendant of pdf.array(pdf.dict(reference)?.['/DescendantFonts'])) {
      const program = isReference(descendant) ? byFont.get(descendant) : undefined;
      program?.fonts.push(reference);
    }
  // A dictionary inside of another object is none of those above. An attached file may be the same stream.
  for (const reference of all)
    for (const target of pdf.referencesIn(reference)) {
      const program = programs.get(target);
      if (program && byDescriptor.get(reference) !== program) lost.add(program);
      const described = byDescriptor.get(target);
      if (described && byFont.get(reference) !== described) lost.add(described);
    }
  return new Map([...programs].filter(([, program]) => !lost.has(program)));
}

/** Returns a font program without the outlines that are not used, or nothing if that gains too little. */
function subsetOf(program: string, fonts: string[], uses: FontUses, pdf: PdfObjects): Buffer | undefined {
  const stream = pdf.dict(program) ?? {};
  const before = pdf.stream(program);
  if (stream['/Filter'] !== undefined || before.length < minBytes) return undefined;
  const glyphs = new Set<number>();
  const subtype = pdf.lookup(stream['/Subtype']);
  const isCff = subtype === '/Type1C' || subtype === '/CIDFontType0C';
  if (!isCff && subtype !== null) return undefined;
  const opened = isCff ? new Cff(before) : new TrueType(before);
  const finder = finderOf(opened);
  for (const font of fonts) {
    const use = uses.of(font);
    if (!use) continue;
    for (const glyph of use.cmap ? compositeGlyphs(use, opened, pdf) : simpleGlyphs(use, finder, pdf))
      glyphs.add(glyph);
  }
  if (glyphs.size === 0) return undefined;
  const made = opened.subset(glyphs);
  return packed(made) < maxShare * packed(before) ? made : undefined;
}

const packed = (data: Buffer) => deflateSync(data, { level: 6 }).length;

/** Returns a prefix of six letters for the name of a subset. */
function prefixOf(program: Buffer): string {
  const digest = createHash('sha256').update(program).digest();
  return Array.from(digest.subarray(0, 6), (byte) => String.fromCharCode(65 + (byte % 26))).join('');
}

function compositeGlyphs({ font, codes, cmap }: Use, program: Cff | TrueType, pdf: PdfObjects): number[] {
  const descendant = pdf.dict(pdf.array(font['/DescendantFonts'])[0]) ?? {};
  const kind = pdf.lookup(descendant['/Subtype']);
  if (!cmap || cmap.isVertical) throw new NotApproved('a vertical font');
  const map = descendant['/CIDToGIDMap'];
  const name = pdf.lookup(map);
  const data = isReference(map) && pdf.isStream(map) ? pdf.stream(map) : undefined;
  const isPlain = data === undefined && (name === null || name === '/Identity');
  if (data ? pdf.dict(map)?.['/Filter'] !== undefined : !isPlain) throw new NotApproved('an unknown CIDToGIDMap');
  const encoding = pdf.lookup(font['/Encoding']);
  if (typeof encoding === 'string' && encoding !== '/Identity-H') throw new NotApproved('a predefined CMap');
  const isCff = program instanceof Cff;
  if (kind !== (isCff ? '/CIDFontType0' : '/CIDFontType2')) throw new NotApproved('an unknown composite font');
  return [...codes].map((key) => {
    const [length, code] = [key % 8, Math.floor(key / 8)];
    const cid = cmap.cids(code, length);
    if (cid === undefined || (encoding === '/Identity-H' && length !== 2)) throw new NotApproved('an unknown code');
    if (isCff) {
      const glyph = program.isCid ? program.glyph(cid) : cid;
      if (glyph === undefined || glyph >= program.glyphs) throw new NotApproved('an unknown glyph');
      return glyph;
    }
    if (data && cid * 2 + 1 >= data.length) throw new NotApproved('an unknown glyph');
    return data ? data.readUInt16BE(cid * 2) : cid;
  });
}

/** Names of each code: those that the font gives, and what readers may take instead. */
interface Names {
  given: (string | undefined)[];
  all: (string | undefined)[][];
  hasEncoding: boolean;
}

function namesOf(font: PdfDict, own: (string | undefined)[] | undefined, pdf: PdfObjects): Names {
  const encoding = pdf.lookup(font['/Encoding']);
  const dict = isDict(encoding) ? encoding : {};
  const base = isDict(encoding) ? pdf.lookup(dict['/BaseEncoding']) : encoding;
  const known: Record<string, (string | undefined)[]> = {
    '/WinAnsiEncoding': winAnsiEncoding,
    '/MacRomanEncoding': macRomanEncoding,
    '/StandardEncoding': standardEncoding,
  };
  if (typeof base === 'string' && !known[base]) throw new NotApproved('an unknown encoding');
  const start = (typeof base === 'string' ? known[base] : own) ?? standardEncoding;
  const given = [...start];
  let code = 0;
  for (const each of pdf.array(dict['/Differences'])) {
    const value = pdf.lookup(each);
    if (typeof value === 'number') code = value;
    else if (typeof value === 'string' && value.startsWith('/') && code >= 0 && code < 256)
      given[code++] = value.slice(1);
    else throw new NotApproved('an unknown encoding');
  }
  return {
    given,
    all: [given, start, own ?? [], standardEncoding, winAnsiEncoding, macRomanEncoding],
    hasEncoding: encoding !== null,
  };
}

/** Returns the glyphs of a simple font. Those that any reader may show are among them. */
function simpleGlyphs({ font, codes }: Use, { subtype, own, byName, byCode }: Finder, pdf: PdfObjects): number[] {
  if (pdf.lookup(font['/Subtype']) !== subtype) throw new NotApproved('an unknown simple font');
  const names = namesOf(font, own, pdf);
  const isSymbolic = (Number(pdf.lookup(pdf.dict(font['/FontDescriptor'])?.['/Flags'])) & 4) !== 0;
  const glyphs: number[] = [];
  for (const code of codes) {
    const given = names.given[code];
    const candidates = new Set(names.all.map((each) => each[code]).filter((name) => name !== undefined));
    glyphs.push(...[...candidates].flatMap(byName));
    const hasName = given !== undefined && byName(given).length > 0;
    let isSure = hasName;
    if (byCode) {
      const found = byCode(code);
      glyphs.push(...found);
      // Readers differ in whether the flag or the encoding decides.
      isSure =
        (hasName || (!names.hasEncoding && isSymbolic)) && (found.length > 0 || (names.hasEncoding && !isSymbolic));
    }
    const isSpace = given === 'space' || given === 'nbspace' || given === 'nonbreakingspace';
    if (!isSure && !isSpace) throw new NotApproved('an unknown glyph');
  }
  return glyphs;
}

/** How the codes of simple fonts find their glyphs in a program. */
interface Finder {
  subtype: string;
  own: (string | undefined)[] | undefined;
  byName: (name: string) => number[];
  byCode?: (code: number) => number[];
}

/** Returns the code points of a name, or none of one that readers look for in the font. */
function pointsOf(name: string): number[] {
  const ligature = ligatures[name];
  if (ligature !== undefined) return [ligature];
  const text = /[._]/.test(name) ? undefined : textOfGlyph(name);
  return Array.from(text ?? '', (each) => each.codePointAt(0) ?? 0);
}

function finderOf(program: Cff | TrueType): Finder {
  if (program instanceof Cff)
    return {
      subtype: program.isCid ? '' : '/Type1',
      own: program.encoding,
      byName: (name) => [program.glyph(name)].filter((glyph) => glyph !== undefined),
    };
  const maps = (platform: number, encoding: number) =>
    program.cmaps.filter((each) => each.platform === platform && each.encoding === encoding);
  const [symbols, unicode, roman] = [maps(3, 0), maps(3, 1), maps(1, 0)];
  let lookups = 0;
  const find = (among: typeof symbols, codes: number[]) =>
    among
      .flatMap(({ lookup }) =>
        codes.map((code) => {
          if (++lookups > maxLookups) throw new NotApproved('a font with too many codes');
          return lookup(code);
        }),
      )
      .filter((glyph) => glyph > 0);
  // The names in the program decide for those that its character map lacks. Such fonts are not sure.
  const first = (main: number[], others: number[], isMain: boolean) =>
    isMain && main.length === 0 ? [] : [...main, ...others];
  return {
    subtype: '/TrueType',
    own: undefined,
    byName: (name) => {
      const [point, ...others] = pointsOf(name);
      if (point === undefined || others.length > 0) return [];
      const points = [point, ...twins.filter((pair) => pair.includes(point)).flat()];
      const code = macRomanEncoding.indexOf(name);
      return first(find(unicode, points), code < 0 ? [] : find(roman, [code]), unicode.length > 0);
    },
    byCode: (code) => {
      const codes = [0, 0xf000, 0xf100, 0xf200].map((base) => base + code);
      return first(find(symbols, codes), find(roman, [code]), symbols.length > 0);
    },
  };
}

/** Returns what a function makes, or undefined for a font that cannot be read. */
function orUndefined<Made>(make: () => Made): Made | undefined {
  try {
    return make();
  } catch (error) {
    // Reading beyond the end of a buffer is a RangeError.
    if (error instanceof NotApproved || error instanceof RangeError) return undefined;
    throw error;
  }
}
