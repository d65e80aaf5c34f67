import { NotApproved } from './problems.ts';

/** Composite glyphs deeper than this are damaged. */
const maxDepth = 8;
const moreComponents = 0x20;

/** A TrueType font program, as far as its glyphs, widths and character maps go. */
export class TrueType {
  readonly tables: Map<string, Buffer>;
  readonly glyphs: number;
  readonly #data: Buffer;
  readonly #unitsPerEm: number;
  readonly #advances: Buffer;
  readonly #metrics: number;
  readonly cmaps: { platform: number; encoding: number; lookup: (code: number) => number }[];

  constructor(data: Buffer) {
    this.tables = tablesOf(data);
    this.#data = data;
    this.glyphs = this.#table('maxp').readUInt16BE(4);
    this.#unitsPerEm = this.#table('head').readUInt16BE(18);
    this.#metrics = this.#table('hhea').readUInt16BE(34);
    this.#advances = this.#table('hmtx');
    if (this.#metrics < 1 || this.#advances.length < this.#metrics * 4 || this.#unitsPerEm < 16 || this.glyphs < 1)
      throw new NotApproved('font program with wrong metrics');
    const cmap = this.tables.get('cmap');
    this.cmaps = cmap ? readCmaps(cmap) : [];
  }

  #table(name: string): Buffer {
    const found = this.tables.get(name);
    if (!found) throw new NotApproved(`font program without table ${name}`);
    return found;
  }

  /** Checks the tables that outlines need. */
  checkOutlines(): void {
    const long = this.#table('head').readInt16BE(50) === 1;
    const loca = this.#table('loca');
    const glyf = this.#table('glyf');
    if (loca.length < (this.glyphs + 1) * (long ? 4 : 2)) throw new NotApproved('font program with a short table loca');
    let before = 0;
    for (let glyph = 0; glyph <= this.glyphs; glyph++) {
      const offset = long ? loca.readUInt32BE(glyph * 4) : loca.readUInt16BE(glyph * 2) * 2;
      if (offset < before || offset > glyf.length) throw new NotApproved('font program with a wrong table loca');
      before = offset;
    }
  }

  /** Returns a program with the same number of glyphs. All but the given ones and .notdef are empty. */
  subset(glyphs: Iterable<number>): Buffer {
    this.checkOutlines();
    const glyf = this.#table('glyf');
    const before = this.#table('loca');
    const long = this.#table('head').readInt16BE(50) === 1;
    const offset = (glyph: number) => (long ? before.readUInt32BE(glyph * 4) : before.readUInt16BE(glyph * 2) * 2);
    const outline = (glyph: number) => glyf.subarray(offset(glyph), offset(glyph + 1));
    const kept = new Set<number>();
    const open = new Set<number>();
    const keep = (glyph: number) => {
      if (glyph >= this.glyphs || open.has(glyph) || open.size > maxDepth)
        throw new NotApproved('font program with wrong components');
      if (kept.has(glyph)) return;
      kept.add(glyph);
      open.add(glyph);
      for (const part of componentsOf(outline(glyph))) keep(part);
      open.delete(glyph);
    };
    for (const glyph of [0, ...glyphs]) keep(glyph);
    const parts: Buffer[] = [];
    const loca = Buffer.alloc(before.length);
    let at = 0;
    for (let glyph = 0; glyph <= this.glyphs; glyph++) {
      if (long) loca.writeUInt32BE(at, glyph * 4);
      else loca.writeUInt16BE(at / 2, glyph * 2);
      if (!kept.has(glyph)) continue;
      const part = outline(glyph);
      parts.push(part, Buffer.alloc(-part.length & 1));
      at += part.length + (part.length & 1);
    }
    const tables = new Map([...this.tables, ['loca', loca], ['glyf', Buffer.concat(parts)]]);
    // Tables that share their bytes would be written several times.
    if (at === 0 || [...tables.values()].reduce((sum, each) => sum + each.length, 0) > this.#data.length)
      throw new NotApproved('font program with wrong tables');
    return written(this.#data.readUInt32BE(0), tables);
  }

  /** Returns the width of a glyph in thousandths. */
  width(glyph: number): number {
    const index = Math.min(glyph, this.#metrics - 1);
    return (this.#advances.readUInt16BE(index * 4) * 1000) / this.#unitsPerEm;
  }
}

/** Returns the tables of an sfnt. */
function tablesOf(data: Buffer): Map<string, Buffer> {
  const version = data.length > 12 ? data.readUInt32BE(0) : 0;
  if (![0x00010000, 0x74727565, 0x4f54544f].includes(version)) throw new NotApproved('unknown kind of font program');
  const count = data.readUInt16BE(4);
  const tables = new Map<string, Buffer>();
  for (let index = 0; index < count; index++) {
    const at = 12 + index * 16;
    if (at + 16 > data.length) throw new NotApproved('truncated font program');
    const start = data.readUInt32BE(at + 8);
    const end = start + data.readUInt32BE(at + 12);
    if (end > data.length) throw new NotApproved('truncated font program');
    tables.set(data.toString('latin1', at, at + 4), data.subarray(start, end));
  }
  return tables;
}

/** Returns the glyphs that a composite glyph consists of. */
function componentsOf(outline: Buffer): number[] {
  const parts: number[] = [];
  if (outline.length === 0 || outline.readInt16BE(0) >= 0) return parts;
  for (let at = 10, flags = moreComponents; flags & moreComponents; ) {
    flags = outline.readUInt16BE(at);
    parts.push(outline.readUInt16BE(at + 2));
    at += 4 + (flags & 1 ? 4 : 2) + (flags & 8 ? 2 : flags & 0x40 ? 4 : flags & 0x80 ? 8 : 0);
  }
  return parts;
}

/** Writes an sfnt. */
function written(version: number, tables: Map<string, Buffer>): Buffer {
  const header = Buffer.alloc(12 + tables.size * 16);
  const log = Math.floor(Math.log2(tables.size));
  header.writeUInt32BE(version, 0);
  header.writeUInt16BE(tables.size, 4);
  header.writeUInt16BE(16 * 2 ** log, 6);
  header.writeUInt16BE(log, 8);
  header.writeUInt16BE(16 * (tables.size - 2 ** log), 10);
  const parts = [header];
  let at = header.length;
  let head = 0;
  for (const [index, [tag, table]] of [...tables].entries()) {
    const padded = Buffer.concat([table, Buffer.alloc(-table.length & 3)]);
    if (tag === 'head') {
      head = at;
      padded.writeUInt32BE(0, 8);
    }
    header.write(tag, 12 + index * 16, 'latin1');
    header.writeUInt32BE(checksumOf(padded), 16 + index * 16);
    header.writeUInt32BE(at, 20 + index * 16);
    header.writeUInt32BE(table.length, 24 + index * 16);
    parts.push(padded);
    at += padded.length;
  }
  const program = Buffer.concat(parts);
  program.writeUInt32BE((0xb1b0afba - checksumOf(program)) >>> 0, head + 8);
  return program;
}

function checksumOf(data: Buffer): number {
  let sum = 0;
  for (let at = 0; at < data.length; at += 4) sum = (sum + data.readUInt32BE(at)) >>> 0;
  return sum;
}

function readCmaps(table: Buffer) {
  const count = table.readUInt16BE(2);
  return Array.from({ length: count }, (_, index) => {
    const at = 4 + index * 8;
    const start = table.readUInt32BE(at + 4);
    return {
      platform: table.readUInt16BE(at),
      encoding: table.readUInt16BE(at + 2),
      lookup: (code: number) => lookup(table.subarray(start), code),
    };
  });
}

/** Returns the glyph of a code, or 0. */
function lookup(table: Buffer, code: number): number {
  switch (table.readUInt16BE(0)) {
    case 0:
      return code < 256 ? (table[6 + code] ?? 0) : 0;
    case 6: {
      const index = code - table.readUInt16BE(6);
      return index >= 0 && index < table.readUInt16BE(8) ? table.readUInt16BE(10 + index * 2) : 0;
    }
    case 4: {
      const segments = table.readUInt16BE(6);
      for (let at = 0; at < segments; at += 2) {
        if (table.readUInt16BE(14 + at) < code) continue;
        const start = table.readUInt16BE(16 + segments + at);
        if (start > code) return 0;
        const delta = table.readUInt16BE(16 + 2 * segments + at);
        const place = 16 + 3 * segments + at;
        const offset = table.readUInt16BE(place);
        if (offset === 0) return (code + delta) & 0xffff;
        const glyph = table.readUInt16BE(place + offset + 2 * (code - start));
        return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
      }
      return 0;
    }
    case 12: {
      const groups = table.readUInt32BE(12);
      for (let group = 0, at = 16; group < groups; group++, at += 12)
        if (code >= table.readUInt32BE(at) && code <= table.readUInt32BE(at + 4))
          return table.readUInt32BE(at + 8) + code - table.readUInt32BE(at);
      return 0;
    }
    default:
      throw new NotApproved('font program with an unknown kind of character map');
  }
}
