import { globSync, readFileSync } from 'node:fs';
import { type Operand, tokensOf, UnreadableContent } from './tokens.ts';

export interface CMap {
  /** Splits a string into character codes. */
  split(string: Buffer): { bytes: Buffer; code: number }[];
  /** Text by code, of a ToUnicode map. */
  texts: Map<number, string>;
  /** Returns the CID of a code. */
  cids(code: number, length: number): number | undefined;
  isVertical: boolean;
}

interface Range {
  low: number;
  high: number;
  length: number;
  cid: number;
}

const maxRange = 65_536;
const maxDepth = 10;
const known = new Map<string, CMap | undefined>();

/** Returns a predefined CMap. Poppler's data has all but the identity. */
export function systemCMap(name: string, depth = 0): CMap | undefined {
  if (name === 'Identity-H' || name === 'Identity-V')
    return {
      split: (string) => splitBy(string, () => 2),
      texts: new Map(),
      cids: (code) => code,
      isVertical: name.endsWith('V'),
    };
  if (!/^[A-Za-z0-9-]{1,40}$/.test(name)) return undefined;
  if (!known.has(name)) {
    const [path] = globSync(`/usr/share/poppler/cMap/*/${name}`);
    known.set(name, path === undefined ? undefined : readCMap(readFileSync(path), depth + 1));
  }
  return known.get(name);
}

function splitBy(string: Buffer, lengthAt: (at: number) => number): { bytes: Buffer; code: number }[] {
  const result: { bytes: Buffer; code: number }[] = [];
  for (let at = 0; at < string.length; ) {
    const bytes = string.subarray(at, at + lengthAt(at));
    result.push({ bytes, code: codeOf(bytes) });
    at += bytes.length;
  }
  return result;
}

const codeOf = (bytes: Buffer) => bytes.reduce((code, byte) => code * 256 + byte, 0);

/** Reads a CMap: of codes to CIDs, or to Unicode. */
export function readCMap(file: Buffer, depth = 0): CMap {
  if (depth > maxDepth) throw new UnreadableContent('CMaps use each other');
  const texts = new Map<number, string>();
  const ranges: Range[] = [];
  const spaces: { low: Buffer; high: Buffer }[] = [];
  let base: CMap | undefined;
  let isVertical = false;
  let operands: Operand[] = [];
  for (const token of tokensOf(file)) {
    if (typeof token !== 'string') {
      operands.push(token);
      continue;
    }
    switch (token) {
      case 'usecmap':
        base = systemCMap(nameIn(operands.at(-1)), depth);
        break;
      case 'def':
        if (nameIn(operands.at(-2)) === 'WMode') isVertical = operands.at(-1) === 1;
        break;
      case 'endcodespacerange':
        for (const [low, high] of groups(operands, 2))
          if (Buffer.isBuffer(low) && Buffer.isBuffer(high) && low.length === high.length) spaces.push({ low, high });
        break;
      case 'endbfchar':
        for (const [code, text] of groups(operands, 2))
          if (Buffer.isBuffer(code) && Buffer.isBuffer(text)) texts.set(codeOf(code), utf16(text));
        break;
      case 'endbfrange':
        for (const [low, high, target] of groups(operands, 3)) readRange(low, high, target, texts);
        break;
      case 'endcidchar':
        for (const [code, cid] of groups(operands, 2))
          if (Buffer.isBuffer(code) && typeof cid === 'number')
            ranges.push({ low: codeOf(code), high: codeOf(code), length: code.length, cid });
        break;
      case 'endcidrange':
        for (const [low, high, cid] of groups(operands, 3))
          if (Buffer.isBuffer(low) && Buffer.isBuffer(high) && typeof cid === 'number')
            ranges.push({ low: codeOf(low), high: codeOf(high), length: low.length, cid });
        break;
    }
    operands = [];
  }
  ranges.sort((one, other) => one.low - other.low);
  const isIn = (bytes: Buffer, { low, high }: { low: Buffer; high: Buffer }) =>
    bytes.length === low.length && bytes.every((byte, at) => byte >= (low[at] ?? 0) && byte <= (high[at] ?? 0));
  const lengthIn = (string: Buffer, at: number) =>
    [1, 2, 3, 4].find((length) => spaces.some((each) => isIn(string.subarray(at, at + length), each)));
  const shortest = Math.min(...spaces.map(({ low }) => low.length), 4);
  const split: CMap['split'] =
    spaces.length === 0 && base
      ? base.split
      : (string) =>
          splitBy(
            string,
            (at) => lengthIn(string, at) ?? base?.split(string.subarray(at))[0]?.bytes.length ?? shortest,
          );
  const cids: CMap['cids'] = (code, length) => {
    let [first, last] = [0, ranges.length];
    while (first < last) {
      const middle = (first + last) >> 1;
      if ((ranges[middle]?.low ?? 0) <= code) first = middle + 1;
      else last = middle;
    }
    for (let index = first - 1; index >= Math.max(0, first - 4); index--) {
      const range = ranges[index];
      if (range && range.length === length && code <= range.high) return range.cid + code - range.low;
    }
    return base?.cids(code, length);
  };
  return { split, texts, cids, isVertical: isVertical || (base?.isVertical ?? false) };
}

function nameIn(value: Operand | undefined): string {
  return value !== null && typeof value === 'object' && 'text' in value ? value.text : '';
}

function groups(operands: Operand[], size: number): Operand[][] {
  // The number of entries stands before the keyword that begins them.
  return Array.from({ length: Math.floor(operands.length / size) }, (_, index) =>
    operands.slice(index * size, (index + 1) * size),
  );
}

function readRange(
  low: Operand | undefined,
  high: Operand | undefined,
  target: Operand | undefined,
  texts: Map<number, string>,
) {
  if (!Buffer.isBuffer(low) || !Buffer.isBuffer(high)) return;
  const [first, last] = [codeOf(low), codeOf(high)];
  if (last - first > maxRange) throw new UnreadableContent('a range of a CMap is too long');
  for (let code = first; code <= last; code++) {
    const offset = code - first;
    if (Array.isArray(target)) {
      const text = target[offset];
      if (Buffer.isBuffer(text)) texts.set(code, utf16(text));
    } else if (Buffer.isBuffer(target) && target.length > 0) {
      const text = Buffer.from(target);
      const end = text.length >= 2 ? text.readUInt16BE(text.length - 2) : (text[0] ?? 0);
      if (text.length >= 2) text.writeUInt16BE((end + offset) & 0xffff, text.length - 2);
      else text[0] = (end + offset) & 0xff;
      texts.set(code, utf16(text));
    }
  }
}

function utf16(bytes: Buffer): string {
  if (bytes.length === 1) return String.fromCharCode(bytes[0] ?? 0);
  return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)))
    .swap16()
    .toString('utf16le');
}
