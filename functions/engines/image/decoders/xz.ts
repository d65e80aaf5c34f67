import { part } from './decoding.ts';

const filterIds = { delta: 0x03, lzma2: 0x21 };

/**
 * Unpacks an xz stream up to a maximum size. TIFF files with LZMA compression have one per strip. They use the delta filter,
 * which small decoders for embedded use do not support. Checksums are not verified.
 */
export function unpackXz(stream: Buffer, maxBytes: number): Buffer {
  if (part(stream, 0, 12).readUIntBE(0, 6) !== 0xfd377a585a00) throw new Error('The strip has no xz signature.');
  const checkBytes = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64][stream.readUInt8(7) & 15] ?? 0;
  const output = Buffer.alloc(maxBytes);
  let [at, done] = [12, 0];
  // The blocks are followed by an index. It starts with 0, a block with the size of its header.
  while (at < stream.length && stream.readUInt8(at) !== 0) {
    const headerBytes = (stream.readUInt8(at) + 1) * 4;
    const delta = readFilters(part(stream, at, headerBytes));
    const start = done;
    const packed = stream.subarray(at + headerBytes);
    const lzma = new Lzma2(packed, output, start);
    done = lzma.run();
    if (delta > 0) {
      for (let to = start + delta; to < done; to++) output[to] = ((output[to] ?? 0) + (output[to - delta] ?? 0)) & 0xff;
    }
    at += headerBytes + lzma.position;
    at += (4 - (at & 3)) & 3;
    at += checkBytes;
  }
  return output.subarray(0, done);
}

/** Returns the distance of the delta filter, or 0 without one. */
function readFilters(header: Buffer): number {
  const flags = header.readUInt8(1);
  let at = 2;
  const number = () => {
    let value = 0;
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = header.readUInt8(at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new Error('A number in the header of a block does not end.');
  };
  if (flags & 0x40) number();
  if (flags & 0x80) number();
  let delta = 0;
  for (let filter = 0; filter <= (flags & 3); filter++) {
    const id = number();
    const properties = number();
    if (id === filterIds.delta) delta = header.readUInt8(at) + 1;
    else if (id !== filterIds.lzma2) throw new Error(`The filter ${id} is not supported.`);
    at += properties;
  }
  return delta;
}

const topValue = 2 ** 24;
const half = 1 << 10;

const probabilities = (count: number) => new Uint16Array(count).fill(half);

/** Probabilities of a length: two choices, then trees of 8, 8 and 256. */
class LengthModel {
  readonly choices = probabilities(2);
  readonly low = probabilities(16 * 8);
  readonly mid = probabilities(16 * 8);
  readonly high = probabilities(256);
}

/** The state that a state reset clears. */
class Model {
  state = 0;
  readonly distances: [number, number, number, number] = [0, 0, 0, 0];
  readonly isMatch = probabilities(12 * 16);
  readonly isRep = probabilities(12);
  readonly isRepG0 = probabilities(12);
  readonly isRepG1 = probabilities(12);
  readonly isRepG2 = probabilities(12);
  readonly isRep0Long = probabilities(12 * 16);
  readonly slots = probabilities(4 * 64);
  readonly special = probabilities(128);
  readonly align = probabilities(16);
  readonly length = new LengthModel();
  readonly repLength = new LengthModel();
  readonly literals: Uint16Array;

  constructor(literalBits: number) {
    this.literals = probabilities(0x300 << literalBits);
  }
}

/** Decodes LZMA2 chunks into a buffer, which is the dictionary as well. */
class Lzma2 {
  /** Bytes that were read. */
  position = 0;
  readonly #input: Buffer;
  readonly #output: Buffer;
  readonly #start: number;
  #done: number;
  #model: Model | undefined;
  #properties = { lc: 0, lp: 0, pb: 0 };
  #range = 0;
  #code = 0;

  constructor(input: Buffer, output: Buffer, start: number) {
    this.#input = input;
    this.#output = output;
    this.#start = start;
    this.#done = start;
  }

  /** Decodes all chunks and returns the end of the output. */
  run(): number {
    for (;;) {
      const control = this.#input.readUInt8(this.position++);
      if (control === 0) return this.#done;
      if (control >= 0x80) this.#runLzma(control);
      else if (control <= 2) this.#copyPlain();
      else throw new Error('A chunk of LZMA2 is of an unknown kind.');
    }
  }

  #room(bytes: number): number {
    if (this.#done + bytes > this.#output.length) throw new Error('The strip unpacks to more than the picture needs.');
    return this.#done + bytes;
  }

  #copyPlain(): void {
    const length = this.#input.readUInt16BE(this.position) + 1;
    this.#room(length);
    part(this.#input, this.position + 2, length).copy(this.#output, this.#done);
    this.position += 2 + length;
    this.#done += length;
  }

  #runLzma(control: number): void {
    const end = this.#room(((control & 0x1f) << 16) + this.#input.readUInt16BE(this.position) + 1);
    const packed = this.#input.readUInt16BE(this.position + 2) + 1;
    const reset = (control >> 5) & 3;
    let start = this.position + 4;
    if (reset >= 2) {
      const byte = this.#input.readUInt8(start++);
      const [lc, lp, pb] = [byte % 9, Math.floor(byte / 9) % 5, Math.floor(byte / 45)];
      if (lc + lp > 4 || pb > 4) throw new Error('The properties of LZMA are out of range.');
      this.#properties = { lc, lp, pb };
    }
    if (reset >= 1) this.#model = new Model(this.#properties.lc + this.#properties.lp);
    const model = this.#model;
    if (!model) throw new Error('The first chunk of LZMA sets no state.');
    part(this.#input, start, packed);
    this.position = start + 1;
    this.#range = 0xffffffff;
    this.#code = this.#input.readUInt32BE(this.position);
    this.position += 4;
    this.#decode(model, end);
    this.position = start + packed;
  }

  #decode(model: Model, end: number): void {
    const { lc, lp, pb } = this.#properties;
    const output = this.#output;
    while (this.#done < end) {
      // Positions count from the start of the stream's own output.
      const place = this.#done - this.#start;
      const positionState = place & ((1 << pb) - 1);
      if (this.#bit(model.isMatch, model.state * 16 + positionState) === 0) {
        const before = this.#done > this.#start ? (output[this.#done - 1] ?? 0) : 0;
        const context = ((place & ((1 << lp) - 1)) << lc) + (before >> (8 - lc));
        output[this.#done] = this.#literal(model, context * 0x300);
        this.#done += 1;
        model.state = model.state < 4 ? 0 : model.state < 10 ? model.state - 3 : model.state - 6;
        continue;
      }
      const length = this.#match(model, positionState);
      if (this.#done + length > end) throw new Error('A match reaches beyond its chunk.');
      for (const copied = this.#done + length; this.#done < copied; this.#done++) {
        output[this.#done] = this.#behind(model.distances[0]);
      }
    }
  }

  #behind(distance: number): number {
    if (distance >= this.#done - this.#start) throw new Error('A match starts before the data.');
    return this.#output[this.#done - distance - 1] ?? 0;
  }

  #literal(model: Model, base: number): number {
    let symbol = 1;
    if (model.state >= 7) {
      let match = this.#behind(model.distances[0]);
      while (symbol < 0x100) {
        const expected = (match >> 7) & 1;
        match <<= 1;
        const bit = this.#bit(model.literals, base + ((1 + expected) << 8) + symbol);
        symbol = (symbol << 1) | bit;
        if (bit !== expected) break;
      }
    }
    while (symbol < 0x100) symbol = (symbol << 1) | this.#bit(model.literals, base + symbol);
    return symbol & 0xff;
  }

  /** Reads a match, sets its distance, and returns its length. */
  #match(model: Model, positionState: number): number {
    const { state, distances } = model;
    if (this.#bit(model.isRep, state) === 0) {
      const length = this.#length(model.length, positionState);
      distances.splice(1, 3, distances[0], distances[1], distances[2]);
      distances[0] = this.#distance(model, length);
      model.state = state < 7 ? 7 : 10;
      return length + 2;
    }
    if (this.#bit(model.isRepG0, state) === 0) {
      if (this.#bit(model.isRep0Long, state * 16 + positionState) === 0) {
        model.state = state < 7 ? 9 : 11;
        return 1;
      }
    } else {
      const index = this.#bit(model.isRepG1, state) === 0 ? 1 : this.#bit(model.isRepG2, state) === 0 ? 2 : 3;
      const [distance = 0] = distances.splice(index, 1);
      distances.unshift(distance);
    }
    model.state = state < 7 ? 8 : 11;
    return this.#length(model.repLength, positionState) + 2;
  }

  #length(model: LengthModel, positionState: number): number {
    if (this.#bit(model.choices, 0) === 0) return this.#tree(model.low, positionState * 8, 3);
    if (this.#bit(model.choices, 1) === 0) return 8 + this.#tree(model.mid, positionState * 8, 3);
    return 16 + this.#tree(model.high, 0, 8);
  }

  #distance(model: Model, length: number): number {
    const slot = this.#tree(model.slots, Math.min(length, 3) * 64, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) * 2 ** bits;
    if (slot < 14) return base + this.#reverseTree(model.special, base - slot, bits);
    return base + this.#direct(bits - 4) * 16 + this.#reverseTree(model.align, 0, 4);
  }

  #tree(probabilities: Uint16Array, base: number, bits: number): number {
    let symbol = 1;
    for (let bit = 0; bit < bits; bit++) symbol = (symbol << 1) | this.#bit(probabilities, base + symbol);
    return symbol - (1 << bits);
  }

  #reverseTree(probabilities: Uint16Array, base: number, bits: number): number {
    let [symbol, value] = [1, 0];
    for (let index = 0; index < bits; index++) {
      const bit = this.#bit(probabilities, base + symbol);
      symbol = (symbol << 1) | bit;
      value |= bit << index;
    }
    return value;
  }

  #direct(bits: number): number {
    let value = 0;
    for (let index = 0; index < bits; index++) {
      this.#range = this.#range >>> 1;
      const bit = this.#code >= this.#range ? 1 : 0;
      if (bit) this.#code -= this.#range;
      this.#normalise();
      value = value * 2 + bit;
    }
    return value;
  }

  #bit(probabilities: Uint16Array, index: number): 0 | 1 {
    const probability = probabilities[index] ?? half;
    const bound = (this.#range >>> 11) * probability;
    const isOne = this.#code >= bound;
    if (isOne) {
      this.#range -= bound;
      this.#code -= bound;
      probabilities[index] = probability - (probability >> 5);
    } else {
      this.#range = bound;
      probabilities[index] = probability + ((2048 - probability) >> 5);
    }
    this.#normalise();
    return isOne ? 1 : 0;
  }

  #normalise(): void {
    if (this.#range >= topValue) return;
    this.#range = (this.#range << 8) >>> 0;
    this.#code = ((this.#code << 8) | this.#input.readUInt8(this.position++)) >>> 0;
  }
}
