import { NotApproved } from './problems.ts';

export class Name {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export class Ref {
  readonly id: number;
  constructor(id: number) {
    this.id = id;
  }
}

/** A string, with a character for each byte. */
export class Bytes {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export class Stream {
  readonly dict: Dict;
  readonly raw: Buffer;
  constructor(dict: Dict, raw: Buffer) {
    this.dict = dict;
    this.raw = raw;
  }
}

export type Dict = Map<string, Value>;
export type Value = null | boolean | number | Name | Bytes | Ref | Value[] | Dict | Stream;

/** An operator or a delimiter. */
export class Keyword {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The limits of a part of ISO 19005 for values. */
export interface Limits {
  maxReal: number;
  maxString: number;
  maxArray: number;
  maxDict: number;
}

const maxDepth = 100;
const maxInteger = 2 ** 31 - 1;
const maxNameBytes = 127;

const space = table('\0\t\n\f\r ');
const delimiter = table('()<>[]{}/%');
const hexDigits = table('0123456789abcdefABCDEF');

function table(characters: string): Uint8Array {
  const found = new Uint8Array(256);
  for (const character of characters) found[character.charCodeAt(0)] = 1;
  return found;
}

/** Reads tokens and values strictly: nothing is repaired, and comments are refused. */
export class Lexer {
  readonly data: Buffer;
  at: number;
  readonly #limits: Limits;

  constructor(data: Buffer, limits: Limits, at = 0) {
    this.data = data;
    this.at = at;
    this.#limits = limits;
  }

  skipSpace(): void {
    while (space[this.data[this.at] ?? 1] === 1 && this.at < this.data.length) this.at += 1;
  }

  /** Returns the next token, or undefined at the end. */
  token(): Keyword | number | Name | Bytes | undefined {
    this.skipSpace();
    const { data } = this;
    const byte = data[this.at];
    if (byte === undefined) return undefined;
    switch (byte) {
      case 0x2f:
        return this.#name();
      case 0x28:
        return this.#literal();
      case 0x5b:
      case 0x5d:
      case 0x7b:
      case 0x7d:
        this.at += 1;
        return new Keyword(String.fromCharCode(byte));
      case 0x3c:
      case 0x3e:
        if (data[this.at + 1] === byte) {
          this.at += 2;
          return new Keyword(byte === 0x3c ? '<<' : '>>');
        }
        if (byte === 0x3c) return this.#hex();
        throw new NotApproved('stray delimiter');
      case 0x25:
      case 0x29:
        throw new NotApproved(byte === 0x25 ? 'comment' : 'stray delimiter');
    }
    const start = this.at;
    while (this.at < data.length && !space[data[this.at] ?? 0] && !delimiter[data[this.at] ?? 0]) this.at += 1;
    const text = data.toString('latin1', start, this.at);
    return (byte >= 0x30 && byte <= 0x39) || byte === 0x2b || byte === 0x2d || byte === 0x2e
      ? this.#number(text)
      : new Keyword(text);
  }

  #number(text: string): number {
    if (!/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(text)) throw new NotApproved(`number ${text.slice(0, 20)}`);
    const value = Number(text);
    const isReal = text.includes('.');
    if (Math.abs(value) > (isReal ? this.#limits.maxReal : maxInteger))
      throw new NotApproved(`number ${text.slice(0, 20)} out of range`);
    if (isReal && value !== 0 && Math.abs(value) < 1.175e-38) throw new NotApproved('number too close to zero');
    return value;
  }

  #name(): Name {
    const { data } = this;
    const start = ++this.at;
    while (this.at < data.length && !space[data[this.at] ?? 0] && !delimiter[data[this.at] ?? 0]) this.at += 1;
    const text = data.toString('latin1', start, this.at);
    const decoded = text.replace(/#([0-9a-fA-F]{2})?/g, (_all, code) => {
      if (code === undefined || code === '00') throw new NotApproved('number sign in a name');
      return String.fromCharCode(Number.parseInt(code, 16));
    });
    if (decoded.length > maxNameBytes) throw new NotApproved(`name of more than ${maxNameBytes} bytes`);
    return new Name(decoded);
  }

  #literal(): Bytes {
    const { data } = this;
    const parts: string[] = [];
    let depth = 1;
    let from = ++this.at;
    const take = () => parts.push(data.toString('latin1', from, this.at));
    for (; ; this.at++) {
      const byte = data[this.at];
      if (byte === undefined) throw new NotApproved('string without an end');
      if (byte === 0x28) depth += 1;
      else if (byte === 0x29 && --depth === 0) break;
      else if (byte === 0x0d) {
        take();
        if (data[this.at + 1] === 0x0a) this.at += 1;
        parts.push('\n');
        from = this.at + 1;
      } else if (byte === 0x5c) {
        take();
        this.at += 1;
        const [code = ''] = /^(?:[0-7]{1,3}|\r\n|[\s\S])/.exec(data.toString('latin1', this.at, this.at + 3)) ?? [];
        parts.push(/^[0-7]/.test(code) ? String.fromCharCode(Number.parseInt(code, 8) & 255) : unescaped(code));
        this.at += Math.max(0, code.length - 1);
        from = this.at + 1;
      }
    }
    take();
    this.at += 1;
    return this.#string(parts.join(''));
  }

  #hex(): Bytes {
    const end = this.data.indexOf(0x3e, this.at);
    if (end < 0) throw new NotApproved('string without an end');
    const text = this.data.toString('latin1', this.at + 1, end).replace(/[\0\t\n\f\r ]/g, '');
    for (let index = 0; index < text.length; index++)
      if (!hexDigits[text.charCodeAt(index)]) throw new NotApproved('hexadecimal string with another character');
    if (text.length % 2 !== 0) throw new NotApproved('hexadecimal string with an odd number of digits');
    this.at = end + 1;
    return this.#string(Buffer.from(text, 'hex').toString('latin1'));
  }

  #string(text: string): Bytes {
    if (text.length > this.#limits.maxString) throw new NotApproved('string too long');
    return new Bytes(text);
  }

  /** Reads a value, or returns a keyword that is none. */
  value(refs: boolean, depth = 0): Value | Keyword | undefined {
    if (depth > maxDepth) throw new NotApproved('values nested too deeply');
    const token = this.token();
    if (typeof token === 'number') return refs && Number.isInteger(token) ? this.#refOr(token) : token;
    if (!(token instanceof Keyword)) return token;
    switch (token.text) {
      case 'true':
        return true;
      case 'false':
        return false;
      case 'null':
        return null;
      case '[': {
        const items: Value[] = [];
        for (;;) {
          const item = this.value(refs, depth + 1);
          if (item instanceof Keyword && item.text === ']') return items;
          if (item === undefined || item instanceof Keyword) throw new NotApproved('unknown word in an array');
          items.push(item);
          if (items.length > this.#limits.maxArray) throw new NotApproved('array too long');
        }
      }
      case '<<':
        return this.dict(refs, depth, '>>');
    }
    return token;
  }

  dict(refs: boolean, depth: number, end: string): Dict {
    const dict: Dict = new Map();
    for (;;) {
      const key = this.token();
      if (key instanceof Keyword && key.text === end) return dict;
      if (!(key instanceof Name)) throw new NotApproved('dictionary with a key that is no name');
      const value = this.value(refs, depth + 1);
      if (value === undefined || value instanceof Keyword) throw new NotApproved('dictionary with an unknown word');
      if (dict.has(key.text)) throw new NotApproved(`dictionary with key ${key.text} twice`);
      dict.set(key.text, value);
      if (dict.size > this.#limits.maxDict) throw new NotApproved('dictionary too large');
    }
  }

  #refOr(number: number): number | Ref {
    const ahead = this.data.toString('latin1', this.at, this.at + 5);
    if (!/^ 0 R(?:[\s/<>[\]()]|$)/.test(ahead)) return number;
    this.at += 4;
    return new Ref(number);
  }
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', '\n': '', '\r': '', '\r\n': '' };

function unescaped(code: string): string {
  return escapes[code[0] === '\r' ? code : (code[0] ?? '')] ?? code[0] ?? '';
}
