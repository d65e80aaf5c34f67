import { isUtf8 } from 'node:buffer';

/** A name in a content stream, without its slash. */
export class Name {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Operand = null | boolean | number | Name | Buffer | Operand[] | Map<string, Operand>;

export interface Operation {
  operator: string;
  operands: Operand[];
  /** Where it is in the stream. */
  start: number;
  end: number;
  /** The data of an inline image, whose dictionary is the operand. */
  data?: Buffer;
}

/** Thrown for content that cannot be read exactly. Its page is drawn as a picture instead. */
export class UnreadableContent extends Error {
  override name = 'UnreadableContent';
}

const maxDepth = 50;
const space = new Set([0, 9, 10, 12, 13, 32]);
const delimiters = new Set([...'()<>[]{}/%'].map((each) => each.charCodeAt(0)));
const isRegular = (byte: number | undefined) => byte !== undefined && !space.has(byte) && !delimiters.has(byte);

/** Returns the operations of a content stream in order. */
export function* operationsOf(bytes: Buffer): Generator<Operation> {
  const reader = new Reader(bytes);
  for (let operands: Operand[] = [], start = -1; ; ) {
    reader.skipSpace();
    if (reader.isAtEnd) return;
    if (start < 0) start = reader.at;
    const found = reader.next();
    if (!(found instanceof Keyword)) {
      operands.push(found);
      continue;
    }
    if (found.text === 'BI') {
      const { dict, data } = reader.inlineImage();
      yield { operator: 'BI', operands: [dict], data, start, end: reader.at };
    } else yield { operator: found.text, operands, start, end: reader.at };
    operands = [];
    start = -1;
  }
}

/** Returns the values of a file that is written like a content stream, such as a CMap. Keywords are strings. */
export function* tokensOf(bytes: Buffer): Generator<Operand | string> {
  const reader = new Reader(bytes);
  for (;;) {
    reader.skipSpace();
    if (reader.isAtEnd) return;
    const found = reader.next();
    yield found instanceof Keyword ? found.text : found;
  }
}

class Keyword {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

class Reader {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  skipSpace(): void {
    for (; !this.isAtEnd; this.at++) {
      const byte = this.#bytes[this.at] ?? 0;
      if (byte === 0x25) while (!this.isAtEnd && ![10, 13].includes(this.#bytes[this.at] ?? 10)) this.at++;
      else if (!space.has(byte)) return;
    }
  }

  next(depth = 0): Operand | Keyword {
    if (depth > maxDepth) throw new UnreadableContent('nested too deeply');
    const first = this.#bytes[this.at];
    switch (first) {
      case 0x28:
        return this.#literal();
      case 0x2f:
        this.at++;
        return new Name(this.#nameText());
      case 0x3c:
        return this.#bytes[this.at + 1] === 0x3c ? this.#dict(depth) : this.#hex();
      case 0x5b: {
        this.at++;
        return this.#until(0x5d, depth);
      }
      // Braces occur in the programs of CMaps only.
      case 0x7b:
      case 0x7d:
        this.at++;
        return new Keyword(String.fromCharCode(first));
    }
    if (!isRegular(first)) throw new UnreadableContent(`unexpected byte ${first}`);
    const text = this.#regular();
    if (/^[+-]*\d*\.?\d*(?:-\d*)?$/.test(text) && /\d/.test(text)) return numberOf(text);
    return text === 'true' ? true : text === 'false' ? false : text === 'null' ? null : new Keyword(text);
  }

  #regular(): string {
    const start = this.at;
    while (isRegular(this.#bytes[this.at])) this.at++;
    return this.#bytes.toString('latin1', start, this.at);
  }

  #nameText(): string {
    const text = this.#regular().replace(/#([0-9a-fA-F]{2})/g, (_, hex) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    const bytes = Buffer.from(text, 'latin1');
    // As in the objects: bytes that are not UTF-8 are lone surrogates.
    return isUtf8(bytes)
      ? bytes.toString()
      : text.replace(/[\x80-\xff]/g, (each) => String.fromCharCode(0xdc00 + each.charCodeAt(0)));
  }

  #until(end: number, depth: number): Operand[] {
    const values: Operand[] = [];
    for (;;) {
      this.skipSpace();
      if (this.isAtEnd) throw new UnreadableContent('an array or dictionary does not end');
      if (this.#bytes[this.at] === end) {
        this.at++;
        return values;
      }
      const value = this.next(depth + 1);
      if (value instanceof Keyword) throw new UnreadableContent(`${value.text} in an array`);
      values.push(value);
    }
  }

  #dict(depth: number): Map<string, Operand> {
    this.at += 2;
    const values = this.#until(0x3e, depth);
    if (this.#bytes[this.at] !== 0x3e) throw new UnreadableContent('a dictionary does not end');
    this.at++;
    return mapOf(values);
  }

  #hex(): Buffer {
    const end = this.#bytes.indexOf(0x3e, this.at);
    if (end < 0) throw new UnreadableContent('a string does not end');
    const digits = this.#bytes.toString('latin1', this.at + 1, end).replace(/[\s\0]/g, '');
    if (/[^0-9a-fA-F]/.test(digits)) throw new UnreadableContent('a string is not hexadecimal');
    this.at = end + 1;
    return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex');
  }

  #literal(): Buffer {
    const result: number[] = [];
    this.at++;
    for (let depth = 1; ; this.at++) {
      const byte = this.#bytes[this.at];
      if (byte === undefined) throw new UnreadableContent('a string does not end');
      if (byte === 0x5c) this.#escape(result);
      else if (byte === 0x0d) {
        result.push(10);
        if (this.#bytes[this.at + 1] === 10) this.at++;
      } else {
        if (byte === 0x28) depth++;
        if (byte === 0x29 && --depth === 0) break;
        result.push(byte);
      }
    }
    this.at++;
    return Buffer.from(result);
  }

  #escape(result: number[]): void {
    const byte = this.#bytes[++this.at] ?? 0;
    const known = 'nrtbf'.indexOf(String.fromCharCode(byte));
    if (known >= 0) result.push([10, 13, 9, 8, 12][known] ?? 0);
    else if (byte >= 0x30 && byte <= 0x37) {
      const [octal = '0'] = /^[0-7]{1,3}/.exec(this.#bytes.toString('latin1', this.at, this.at + 3)) ?? [];
      result.push(Number.parseInt(octal, 8) & 255);
      this.at += octal.length - 1;
    } else if (byte === 13) {
      if (this.#bytes[this.at + 1] === 10) this.at++;
    } else if (byte !== 10) result.push(byte);
  }

  inlineImage(): { dict: Map<string, Operand>; data: Buffer } {
    const values: Operand[] = [];
    for (;;) {
      this.skipSpace();
      if (this.isAtEnd) throw new UnreadableContent('an inline image does not end');
      const value = this.next();
      if (!(value instanceof Keyword)) values.push(value);
      else if (value.text === 'ID') break;
      else throw new UnreadableContent(`${value.text} in an inline image`);
    }
    const start = this.at + 1;
    // The data may hold the letters. What follows the real ones is text.
    for (let end = this.#bytes.indexOf('EI', start); end >= 0; end = this.#bytes.indexOf('EI', end + 1)) {
      const isSeparate = space.has(this.#bytes[end - 1] ?? 0) && !isRegular(this.#bytes[end + 2]);
      const after = this.#bytes.toString('latin1', end + 2, end + 22);
      if (!isSeparate || /[^\t\r\n\f\0\x20-\x7e]/.test(after)) continue;
      this.at = end + 2;
      return { dict: mapOf(values), data: this.#bytes.subarray(start, end - 1) };
    }
    throw new UnreadableContent('an inline image does not end');
  }
}

/** Reads a number as other readers do: some producers write two signs, or a minus in the middle. */
function numberOf(text: string): number {
  const value = Number(text.replace(/^[+-]*(?=[+-])/, '').replace(/(?<=[\d.])-.*$/, ''));
  if (!Number.isFinite(value)) throw new UnreadableContent(`${text} is no number`);
  return value;
}

function mapOf(values: Operand[]): Map<string, Operand> {
  const map = new Map<string, Operand>();
  for (let index = 0; index + 1 < values.length; index += 2) {
    const key = values[index];
    if (!(key instanceof Name)) throw new UnreadableContent('a key is no name');
    map.set(key.text, values[index + 1] ?? null);
  }
  return map;
}

/** Returns the text of an operand in a content stream. */
export function written(value: Operand): string {
  if (value instanceof Name) return writtenName(value.text);
  if (Buffer.isBuffer(value)) return `<${value.toString('hex')}>`;
  if (Array.isArray(value)) return `[${value.map(written).join(' ')}]`;
  if (value instanceof Map)
    return `<<${[...value].map(([key, each]) => `${writtenName(key)} ${written(each)}`).join(' ')}>>`;
  return typeof value === 'number' ? writtenNumber(value) : String(value);
}

export function writtenNumber(value: number): string {
  return String(Number(value.toFixed(5)));
}

function writtenName(text: string): string {
  const bytes = text.replace(/[\u0080-\u{10ffff}]/gu, (each) => {
    const code = each.charCodeAt(0);
    return code >= 0xdc00 && code <= 0xdcff ? String.fromCharCode(code - 0xdc00) : Buffer.from(each).toString('latin1');
  });
  return `/${bytes.replace(/[^A-Za-z0-9_.+*-]/g, (each) => `#${each.charCodeAt(0).toString(16).padStart(2, '0')}`)}`;
}
