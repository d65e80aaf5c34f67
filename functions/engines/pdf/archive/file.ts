import { inflateSync } from 'node:zlib';
import { Bytes, type Dict, Keyword, Lexer, type Limits, Name, Ref, Stream, type Value } from './lexer.ts';
import { NotApproved } from './problems.ts';

const maxObjects = 1_000_000;
/** Of what is read: content, fonts and profiles, but not pictures. */
const maxDecodedBytes = 256 * 1024 ** 2;

export function limitsOf(part: number): Limits {
  return part === 1
    ? { maxReal: 32_767, maxString: 65_535, maxArray: 8_191, maxDict: 4_095 }
    : { maxReal: 3.403e38, maxString: 32_767, maxArray: 1_000_000, maxDict: 100_000 };
}

/**
 * A PDF of one section with a cross-reference table, as qpdf writes it. Every byte of the file is accounted for: objects
 * follow each other without gaps, and the table lists each of them.
 */
export class PdfaFile {
  readonly objects: Map<number, Value>;
  readonly trailer: Dict;
  readonly limits: Limits;
  #decodedBytes = 0;
  readonly #decoded = new WeakMap<Stream, Buffer>();

  constructor(data: Buffer, part: number) {
    this.limits = limitsOf(part);
    const header = /^%PDF-1\.[0-7]\n%([\x80-\xff]{4})\n/.exec(data.toString('latin1', 0, 15));
    if (!header) throw new NotApproved('header is not known to conform');
    const lexer = new Lexer(data, this.limits, header[0].length);
    this.objects = new Map();
    const offsets = new Map<number, number>();
    for (;;) {
      const head = /^(?:(\d{1,7}) 0 obj\n|xref\n)/.exec(data.toString('latin1', lexer.at, lexer.at + 16));
      if (!head) throw new NotApproved(`unknown structure at byte ${lexer.at}`);
      if (head[1] === undefined) break;
      const id = Number(head[1]);
      if (this.objects.has(id) || this.objects.size >= maxObjects) throw new NotApproved(`object ${id} is repeated`);
      offsets.set(id, lexer.at);
      lexer.at += head[0].length;
      this.objects.set(id, readObject(lexer, id));
    }
    this.trailer = readEnd(lexer, offsets);
    for (const [id, value] of this.objects)
      if (value instanceof Stream && this.get(value.dict.get('Length')) !== value.raw.length)
        throw new NotApproved(`the length of stream ${id} differs`);
  }

  /** Returns the value that a reference leads to, or the value itself. */
  get(value: Value | undefined): Value {
    const found = value instanceof Ref ? (this.objects.get(value.id) ?? null) : (value ?? null);
    if (found instanceof Ref) throw new NotApproved('a reference leads to a reference');
    return found;
  }

  dict(value: Value | undefined): Dict | undefined {
    const found = this.get(value);
    return found instanceof Map ? found : found instanceof Stream ? found.dict : undefined;
  }

  array(value: Value | undefined): Value[] | undefined {
    const found = this.get(value);
    return Array.isArray(found) ? found : undefined;
  }

  number(value: Value | undefined): number | undefined {
    const found = this.get(value);
    return typeof found === 'number' ? found : undefined;
  }

  name(value: Value | undefined): string | undefined {
    const found = this.get(value);
    return found instanceof Name ? found.text : undefined;
  }

  text(value: Value | undefined): string | undefined {
    const found = this.get(value);
    return found instanceof Bytes ? found.text : undefined;
  }

  stream(value: Value | undefined): Stream | undefined {
    const found = this.get(value);
    return found instanceof Stream ? found : undefined;
  }

  /** Returns the filters of a stream. */
  filters(dict: Dict): string[] {
    const filter = this.get(dict.get('Filter'));
    if (filter === null) return [];
    return (Array.isArray(filter) ? filter : [filter]).map((each) => this.name(each) ?? '');
  }

  /** Returns the data of a stream that is not compressed, or by Flate alone. */
  decode(stream: Stream): Buffer {
    const known = this.#decoded.get(stream);
    if (known) return known;
    const filters = this.filters(stream.dict);
    if (filters.length === 0) return stream.raw;
    if (filters.length > 1 || filters[0] !== 'FlateDecode' || this.get(stream.dict.get('DecodeParms')) !== null)
      throw new NotApproved(`a stream with filters ${filters.join(', ')} is not read`);
    const left = maxDecodedBytes - this.#decodedBytes;
    let data: Buffer;
    try {
      data = inflateSync(stream.raw, { maxOutputLength: Math.max(1, left) });
    } catch {
      throw new NotApproved('a stream is damaged or too large to be read');
    }
    this.#decodedBytes += data.length;
    this.#decoded.set(stream, data);
    return data;
  }
}

function readObject(lexer: Lexer, id: number): Value {
  const { data } = lexer;
  const value = lexer.value(true);
  if (value === undefined || value instanceof Keyword) throw new NotApproved(`object ${id} is no value`);
  const isStream = data.toString('latin1', lexer.at, lexer.at + 8) === '\nstream\n';
  let result: Value = value;
  if (isStream) {
    const length = value instanceof Map ? value.get('Length') : undefined;
    if (!(value instanceof Map) || typeof length !== 'number' || !Number.isInteger(length) || length < 0)
      throw new NotApproved(`stream ${id} has no length`);
    const start = lexer.at + 8;
    result = new Stream(value, data.subarray(start, start + length));
    lexer.at = start + length;
    const end = '\nendstream';
    if (data.toString('latin1', lexer.at, lexer.at + end.length) !== end)
      throw new NotApproved(`the length of stream ${id} differs`);
    lexer.at += end.length;
  }
  const end = '\nendobj\n';
  if (data.toString('latin1', lexer.at, lexer.at + end.length) !== end)
    throw new NotApproved(`object ${id} has no end`);
  lexer.at += end.length;
  return result;
}

/** Reads the table and the trailer, and checks that nothing else follows. */
function readEnd(lexer: Lexer, offsets: Map<number, number>): Dict {
  const { data } = lexer;
  const start = lexer.at;
  const head = /^xref\n0 (\d{1,8})\n0000000000 65535 f \n/.exec(data.toString('latin1', start, start + 60));
  const count = Number(head?.[1]);
  if (!head || count !== offsets.size + 1) throw new NotApproved('the cross-reference table does not list the objects');
  lexer.at += head[0].length;
  for (let id = 1; id < count; id++, lexer.at += 20) {
    const expected = `${String(offsets.get(id)).padStart(10, '0')} 00000 n \n`;
    if (data.toString('latin1', lexer.at, lexer.at + 20) !== expected)
      throw new NotApproved(`the cross-reference table is wrong for object ${id}`);
  }
  const word = 'trailer ';
  if (data.toString('latin1', lexer.at, lexer.at + word.length) !== word) throw new NotApproved('there is no trailer');
  lexer.at += word.length;
  const trailer = lexer.value(true);
  if (!(trailer instanceof Map)) throw new NotApproved('there is no trailer');
  if (data.toString('latin1', lexer.at) !== `\nstartxref\n${start}\n%%EOF\n`)
    throw new NotApproved('the end of the file is not known to conform');
  return trailer;
}
