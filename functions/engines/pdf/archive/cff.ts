import { standardEncoding, standardStrings } from './encodings.ts';
import { NotApproved } from './problems.ts';

type Operands = Map<number, number[]>;

/** A program of a Compact Font Format (Adobe Technical Note 5176), as far as its glyphs and widths go. */
export class Cff {
  readonly isCid: boolean;
  readonly registry: { registry: string; ordering: string; supplement: number } | undefined;
  /** The name or, in a CID font, the CID of each glyph. */
  readonly charset: (string | number)[];
  readonly #glyphOf: Map<string | number, number>;
  /** The names of its own encoding by code. */
  readonly encoding: (string | undefined)[] = [];
  readonly #data: Buffer;
  readonly #charStrings: Buffer[];
  readonly #globals: Buffer[];
  readonly #privates: { defaultWidth: number; nominalWidth: number; subrs: Buffer[] }[];
  readonly #select: Uint8Array;
  readonly #scales: number[];

  constructor(data: Buffer) {
    if (data[0] !== 1) throw new NotApproved('unknown kind of font program');
    this.#data = data;
    const names = readIndex(data, data[2] ?? 4);
    const tops = readIndex(data, names.end);
    const strings = readIndex(data, tops.end);
    const globals = readIndex(data, strings.end);
    this.#globals = globals.items;
    const [first] = tops.items;
    if (!first || tops.items.length !== 1) throw new NotApproved('font program with several fonts');
    const top = readDict(first);
    const text = (sid: number) =>
      standardStrings[sid] ?? strings.items[sid - standardStrings.length]?.toString('latin1') ?? `sid${sid}`;
    this.#charStrings = readIndex(data, one(top, 17)).items;
    const count = this.#charStrings.length;
    if (count < 1) throw new NotApproved('font program without glyphs');
    const ros = top.get(0x0c1e);
    this.isCid = ros !== undefined;
    this.registry = ros && { registry: text(ros[0] ?? 0), ordering: text(ros[1] ?? 0), supplement: ros[2] ?? 0 };
    const ids = readCharset(data, top.get(15)?.[0] ?? 0, count);
    this.charset = this.isCid ? ids : ids.map(text);
    this.#glyphOf = new Map(this.charset.map((name, glyph) => [name, glyph]));
    if (this.isCid) {
      const fonts = readIndex(data, one(top, 0x0c24)).items.map(readDict);
      this.#privates = fonts.map((font) => readPrivate(data, font));
      this.#scales = fonts.map((font) => {
        const [own, shared] = [font.get(0x0c07)?.[0], top.get(0x0c07)?.[0]];
        return own === undefined && shared === undefined ? 0.001 : (own ?? 1) * (shared ?? 1);
      });
      this.#select = readSelect(data, one(top, 0x0c25), count);
    } else {
      this.#privates = [readPrivate(data, top)];
      this.#scales = [top.get(0x0c07)?.[0] ?? 0.001];
      this.#select = new Uint8Array(count);
      this.encoding = readEncoding(data, top.get(16)?.[0] ?? 0, this.charset.map(String), text);
    }
  }

  get glyphs(): number {
    return this.#charStrings.length;
  }

  glyph(name: string | number): number | undefined {
    return this.#glyphOf.get(name);
  }

  /** Returns the width of a glyph in thousandths. */
  width(glyph: number): number {
    const font = this.#select[glyph] ?? 0;
    const { dict, code } = this.#glyph(glyph);
    const delta = readGlyph(code, this.#globals, dict.subrs, false).width;
    const units = delta === undefined ? dict.defaultWidth : dict.nominalWidth + delta;
    return units * 1000 * (this.#scales[font] ?? 0.001);
  }

  #glyph(glyph: number) {
    const dict = this.#privates[this.#select[glyph] ?? 0];
    const code = this.#charStrings[glyph];
    if (!dict || !code) throw new NotApproved('font program with a wrong index');
    return { dict, code };
  }

  /** Returns a program with the same number of glyphs. All but the given ones and .notdef are empty. No offset changes. */
  subset(glyphs: Iterable<number>): Buffer {
    const kept = new Set([0]);
    for (const glyph of glyphs) {
      kept.add(glyph);
      const { dict, code } = this.#glyph(glyph);
      for (const part of readGlyph(code, this.#globals, dict.subrs, true).components) {
        const found = this.glyph(standardEncoding[part] ?? '');
        if (found === undefined) throw new NotApproved('font program with a missing glyph');
        kept.add(found);
      }
    }
    if (this.#glyphOf.size !== this.glyphs) throw new NotApproved('font program with ambiguous glyphs');
    const codes = this.#charStrings.map((code, glyph) => (kept.has(glyph) ? code : Buffer.of(endChar)));
    const subset = Buffer.from(this.#data);
    const start = one(readDict(readIndex(subset, readIndex(subset, subset[2] ?? 4).end).items[0] ?? subset), 17);
    const size = subset[start + 2] ?? 0;
    const base = start + 2 + (codes.length + 1) * size;
    const end = base + 1 + this.#charStrings.reduce((sum, code) => sum + code.length, 0);
    let at = 1;
    for (const [glyph, code] of codes.entries()) {
      subset.writeUIntBE(at, start + 3 + glyph * size, size);
      at += code.length;
    }
    subset.writeUIntBE(at, start + 3 + codes.length * size, size);
    if (base + at > end) throw new NotApproved('font program with empty glyphs');
    const made = Buffer.concat(codes);
    made.copy(subset, base + 1);
    return subset.fill(0, base + 1 + made.length, end);
  }
}

function one(dict: Operands, key: number): number {
  const value = dict.get(key)?.[0];
  if (value === undefined) throw new NotApproved('font program without a required entry');
  return value;
}

function readIndex(data: Buffer, at: number): { items: Buffer[]; end: number } {
  const count = data.readUInt16BE(at);
  if (count === 0) return { items: [], end: at + 2 };
  const size = data[at + 2] ?? 0;
  if (size < 1 || size > 4) throw new NotApproved('font program with a wrong index');
  const base = at + 2 + (count + 1) * size;
  const offset = (index: number) => base + data.readUIntBE(at + 3 + index * size, size);
  const items = Array.from({ length: count }, (_, index) => {
    const [start, end] = [offset(index), offset(index + 1)];
    if (start > end || end > data.length) throw new NotApproved('font program with a wrong index');
    return data.subarray(start, end);
  });
  return { items, end: offset(count) };
}

function readDict(data: Buffer): Operands {
  const dict: Operands = new Map();
  let operands: number[] = [];
  for (let at = 0; at < data.length; ) {
    const byte = data[at++] ?? 0;
    if (byte <= 21) {
      const key = byte === 12 ? 0x0c00 + (data[at++] ?? 0) : byte;
      dict.set(key, operands);
      operands = [];
    } else if (byte === 28) {
      operands.push(data.readInt16BE(at));
      at += 2;
    } else if (byte === 29) {
      operands.push(data.readInt32BE(at));
      at += 4;
    } else if (byte === 30) {
      let text = '';
      for (let done = false; !done && at < data.length; at++)
        for (const nibble of [(data[at] ?? 0) >> 4, (data[at] ?? 0) & 15]) {
          if (nibble === 15) done = true;
          else text += ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', 'E', 'E-', '', '-'][nibble] ?? '';
        }
      operands.push(Number(text));
    } else if (byte >= 32 && byte <= 246) operands.push(byte - 139);
    else if (byte >= 247 && byte <= 250) operands.push((byte - 247) * 256 + (data[at++] ?? 0) + 108);
    else if (byte >= 251 && byte <= 254) operands.push(-(byte - 251) * 256 - (data[at++] ?? 0) - 108);
    else throw new NotApproved('font program with an unknown number');
  }
  return dict;
}

function readPrivate(data: Buffer, font: Operands) {
  const [size = 0, start = 0] = font.get(18) ?? [];
  const dict = readDict(data.subarray(start, start + size));
  const subrs = dict.get(19)?.[0];
  return {
    defaultWidth: dict.get(20)?.[0] ?? 0,
    nominalWidth: dict.get(21)?.[0] ?? 0,
    subrs: subrs === undefined ? [] : readIndex(data, start + subrs).items,
  };
}

function readCharset(data: Buffer, start: number, count: number): number[] {
  if (start === 0) return Array.from({ length: count }, (_, glyph) => glyph);
  if (start <= 2) throw new NotApproved('font program with an expert charset');
  const format = data[start] ?? 0;
  const ids = [0];
  let at = start + 1;
  while (ids.length < count) {
    const first = data.readUInt16BE(at);
    at += 2;
    let left = 0;
    if (format === 1) left = data[at++] ?? 0;
    else if (format === 2) {
      left = data.readUInt16BE(at);
      at += 2;
    } else if (format !== 0) throw new NotApproved('font program with an unknown charset');
    for (let index = 0; index <= left && ids.length < count; index++) ids.push(first + index);
  }
  return ids;
}

function readSelect(data: Buffer, start: number, count: number): Uint8Array {
  const select = new Uint8Array(count);
  if (data[start] === 0) select.set(data.subarray(start + 1, start + 1 + count));
  else if (data[start] === 3) {
    const ranges = data.readUInt16BE(start + 1);
    for (let range = 0; range < ranges; range++) {
      const at = start + 3 + range * 3;
      select.fill(data[at + 2] ?? 0, data.readUInt16BE(at), data.readUInt16BE(at + 3));
    }
  } else throw new NotApproved('font program with an unknown selection of fonts');
  return select;
}

function readEncoding(data: Buffer, start: number, names: string[], text: (sid: number) => string) {
  if (start === 0) return standardEncoding;
  if (start === 1) throw new NotApproved('font program with the expert encoding');
  const codes: (string | undefined)[] = [];
  const format = data[start] ?? 0;
  const count = data[start + 1] ?? 0;
  let at = start + 2;
  if ((format & 127) === 0) for (let glyph = 1; glyph <= count; glyph++) codes[data[at++] ?? 0] = names[glyph];
  else if ((format & 127) === 1) {
    let glyph = 1;
    for (let range = 0; range < count; range++) {
      const first = data[at++] ?? 0;
      const left = data[at++] ?? 0;
      for (let index = 0; index <= left; index++) codes[first + index] = names[glyph++];
    }
  } else throw new NotApproved('font program with an unknown encoding');
  if (format & 128) {
    const more = data[at++] ?? 0;
    for (let index = 0; index < more; index++, at += 3) codes[data[at] ?? 0] = text(data.readUInt16BE(at + 1));
  }
  return codes;
}

const maxSteps = 100_000;

const endChar = 14;

/**
 * Reads a Type 2 charstring: the width at its start, undefined if there is none, and the codes of the two standard
 * characters that an accented one may consist of. Components are only found if all of it is read.
 */
function readGlyph(
  code: Buffer,
  globals: Buffer[],
  subrs: Buffer[],
  isWhole: boolean,
): { width: number | undefined; components: number[] } {
  let stack: number[] = [];
  let steps = 0;
  let hints = 0;
  let first: { width: number | undefined } | undefined;
  const bias = (list: Buffer[]) => (list.length < 1240 ? 107 : list.length < 33_900 ? 1131 : 32_768);
  /** Returns what was read, once that is all. */
  const run = (data: Buffer, depth: number): { width: number | undefined; components: number[] } | undefined => {
    if (depth > 10) throw new NotApproved('font program with nested subroutines');
    for (let at = 0; at < data.length; ) {
      if (++steps > maxSteps) throw new NotApproved('font program with an endless glyph');
      const byte = data[at++] ?? 0;
      if (byte === 28) {
        stack.push(data.readInt16BE(at));
        at += 2;
      } else if (byte === 255) {
        stack.push(data.readInt32BE(at) / 65_536);
        at += 4;
      } else if (byte >= 32 && byte <= 246) stack.push(byte - 139);
      else if (byte >= 247 && byte <= 250) stack.push((byte - 247) * 256 + (data[at++] ?? 0) + 108);
      else if (byte >= 251) stack.push(-(byte - 251) * 256 - (data[at++] ?? 0) - 108);
      else if (byte === 10 || byte === 29) {
        const list = byte === 10 ? subrs : globals;
        const called = list[(stack.pop() ?? 0) + bias(list)];
        if (!called) throw new NotApproved('font program with a missing subroutine');
        const found = run(called, depth + 1);
        if (found) return found;
      } else if (byte === 11) return undefined;
      else {
        first ??= { width: takesWidth(byte, stack.length) ? stack[0] : undefined };
        if (!isWhole) return { ...first, components: [] };
        if (byte === endChar) return { ...first, components: stack.length >= 4 ? stack.slice(-2) : [] };
        if ([1, 3, 18, 19, 20, 23].includes(byte)) hints += stack.length >> 1;
        if (byte === 19 || byte === 20) at += Math.ceil(hints / 8);
        const flex = byte === 12 ? data[at++] : undefined;
        if (flex !== undefined && (flex < 34 || flex > 37)) throw new NotApproved('font program that calculates');
        stack = [];
      }
    }
    return undefined;
  };
  const found = run(code, 0);
  if (!found) throw new NotApproved('font program with an empty glyph');
  return found;
}

/** Returns whether the first operator of a charstring has an operand more than it takes. */
function takesWidth(operator: number, operands: number): boolean {
  switch (operator) {
    case 1:
    case 3:
    case 18:
    case 23:
    case 19:
    case 20:
      return operands % 2 === 1;
    case 21:
      return operands > 2;
    case 4:
    case 22:
      return operands > 1;
    case 14:
      return operands === 1 || operands === 5;
    default:
      throw new NotApproved('font program with an unknown start of a glyph');
  }
}
