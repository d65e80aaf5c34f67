/** Sound formats that no program of a distribution writes, made by hand from what their decoders read. */

/** Collects bits, the highest first, in little-endian words of four bytes. */
class WordWriter {
  readonly #bits: number[] = [];

  get length(): number {
    return this.#bits.length;
  }

  write(value: number, count: number): void {
    for (let at = count - 1; at >= 0; at--) this.#bits.push(Math.floor(value / 2 ** at) % 2);
  }

  append(other: WordWriter): void {
    for (const bit of other.#bits) this.#bits.push(bit);
  }

  bytes(): Buffer {
    const words = Math.ceil(this.#bits.length / 32);
    const bytes = Buffer.alloc(words * 4);
    for (let word = 0; word < words; word++) {
      let value = 0;
      for (let at = 0; at < 32; at++) value = value * 2 + (this.#bits[word * 32 + at] ?? 0);
      bytes.writeUInt32LE(value, word * 4);
    }
    return bytes;
  }
}

const rate = 44_100;

/** Returns a second of a tone as samples of 16 bits. */
export function toneSamples(hertz: number, seconds = 1): Int16Array {
  return Int16Array.from({ length: rate * seconds }, (_, at) =>
    Math.round(12_000 * Math.sin((2 * Math.PI * hertz * at) / rate)),
  );
}

const apeBlock = 9216;

/** Writes a Monkey's Audio file of version 3.88 at its fastest level: one channel, predicted from its last two steps. */
export function monkeysAudio(samples: Int16Array): Buffer {
  const frames = Array.from({ length: Math.ceil(samples.length / apeBlock) }, (_, frame) =>
    apeFrame(samples.subarray(frame * apeBlock, (frame + 1) * apeBlock)),
  );
  const header = Buffer.alloc(32);
  header.write('MAC ', 0, 'latin1');
  header.writeUInt16LE(3880, 4);
  header.writeUInt16LE(1000, 6);
  // The header of a wave file is not stored but rebuilt.
  header.writeUInt16LE(32, 8);
  header.writeUInt16LE(1, 10);
  header.writeUInt32LE(rate, 12);
  header.writeUInt32LE(frames.length, 24);
  header.writeUInt32LE(samples.length - (frames.length - 1) * apeBlock, 28);
  const places = Buffer.alloc(frames.length * 4);
  let place = header.length + places.length;
  for (const [at, frame] of frames.entries()) {
    places.writeUInt32LE(place, at * 4);
    place += frame.length;
  }
  return Buffer.concat([header, places, ...frames, Buffer.alloc(8)]);
}

function apeFrame(samples: Int16Array): Buffer {
  const out = new WordWriter();
  // Of the checksum, decoders of this version take no notice.
  out.write(0, 32);
  const steps = [0, 0];
  let [sum, weight] = [0, 375];
  let [size, rice] = [16_384, 10];
  for (const [at, sample] of samples.entries()) {
    const [last = 0, before = 0] = steps;
    const predicted = last * 2 - before;
    const step = at < 3 ? sample : sample - sum;
    const value = at < 3 ? sample : step - ((predicted * weight) >> 9);
    if (at >= 3) weight += (value ^ predicted) > 0 ? 1 : -1;
    sum = sample;
    steps.splice(0, 2, step, last);

    const folded = value > 0 ? value * 2 - 1 : value * -2;
    out.write(1, (folded >> rice) + 1);
    out.write(folded & ((1 << rice) - 1), rice);
    size += folded - ((size + 8) >> 4);
    if (size < (rice ? 1 << (rice + 4) : 0)) rice -= 1;
    else if (size >= 1 << (rice + 5)) rice += 1;
  }
  return out.bytes();
}

/** Each frame holds 36 samples of each of 32 bands. */
const bandSamples = 36;
const bands = 32;
/** Of the last frame, what is left when its decoder has given out the 481 samples that it is behind. */
const lastSamples = 600;

/** Writes a Musepack file of stream version 7: a tone within the lowest of its bands, at fourteen bits a sample. */
export function musepack7(hertz: number, seconds = 1): Buffer {
  const count = Math.ceil((rate * seconds) / (bandSamples * bands));
  const stream = new WordWriter();
  stream.write(0, 8);
  for (let frame = 0; frame < count; frame++) {
    const content = musepackFrame(hertz, frame);
    stream.write(content.length, 20);
    stream.append(content);
  }
  stream.write(lastSamples, 11);
  const header = Buffer.alloc(24);
  header.write('MP+', 0, 'latin1');
  header[3] = 7;
  header.writeUInt32LE(count, 4);
  // Two bands at most, without stereo by differences, at 44,100 Hz.
  header.writeUInt32LE(1 << 24, 8);
  header.writeUInt32LE(((1 << 31) | (lastSamples << 20)) >>> 0, 20);
  return Buffer.concat([header, stream.bytes(), Buffer.alloc(8)]);
}

function musepackFrame(hertz: number, frame: number): WordWriter {
  const out = new WordWriter();
  // Both channels: fourteen bits a sample, nothing in the second band, one scale for the whole frame, and that scale as it is.
  for (let channel = 0; channel < 2; channel++) out.write(15, 4);
  for (let channel = 0; channel < 2; channel++) {
    out.write(0b0_1011_1010, 9);
    out.write(0, 4);
  }
  for (let channel = 0; channel < 2; channel++) out.write(0b00, 2);
  for (let channel = 0; channel < 2; channel++) {
    out.write(0b1100, 4);
    out.write(1, 6);
  }
  for (let channel = 0; channel < 2; channel++)
    for (let at = 0; at < bandSamples; at++) {
      const phase = (2 * Math.PI * hertz * (frame * bandSamples + at) * bands) / rate;
      out.write(Math.round(1500 * Math.sin(phase)) + 8191, 14);
    }
  return out;
}

const directRate = 2_822_400;

/** Makes a tone of one bit a sample by a modulator of second order, as the converters do that record it. */
function modulated(hertz: number, samples: number): Uint8Array {
  const bits = new Uint8Array(samples);
  let [first, second] = [0, 0];
  for (let at = 0; at < samples; at++) {
    const level = 0.4 * Math.sin((2 * Math.PI * hertz * at) / directRate);
    const bit = second >= 0 ? 1 : -1;
    first += level - bit;
    second += first - bit;
    bits[at] = bit > 0 ? 1 : 0;
  }
  return bits;
}

/** Writes a DSF file of a second, rounded up to whole blocks. */
export function dsf(hertz: number): Buffer {
  const block = 4096;
  const samples = Math.ceil(directRate / 8 / block) * block * 8;
  const data = Buffer.alloc(samples / 8);
  for (const [at, bit] of modulated(hertz, samples).entries()) data[at >> 3] = (data[at >> 3] ?? 0) | (bit << (at & 7));
  const header = Buffer.alloc(92);
  header.write('DSD ', 0);
  header.writeBigUInt64LE(28n, 4);
  header.writeBigUInt64LE(BigInt(header.length + data.length), 12);
  header.write('fmt ', 28);
  header.writeBigUInt64LE(52n, 32);
  header.writeUInt32LE(1, 40);
  header.writeUInt32LE(0, 44);
  header.writeUInt32LE(1, 48);
  header.writeUInt32LE(1, 52);
  header.writeUInt32LE(directRate, 56);
  header.writeUInt32LE(1, 60);
  header.writeBigUInt64LE(BigInt(samples), 64);
  header.writeUInt32LE(block, 72);
  header.write('data', 80);
  header.writeBigUInt64LE(BigInt(12 + data.length), 84);
  return Buffer.concat([header, data]);
}

/** Writes a DFF file (DSDIFF) of a second: the same samples, the first bit highest, in chunks of their own. */
export function dff(hertz: number): Buffer {
  const data = Buffer.alloc(directRate / 8);
  for (const [at, bit] of modulated(hertz, directRate).entries())
    data[at >> 3] = (data[at >> 3] ?? 0) | (bit << (7 - (at & 7)));
  const chunk = (name: string, ...content: Buffer[]) => {
    const body = Buffer.concat(content);
    const head = Buffer.alloc(12);
    head.write(name, 0, 'latin1');
    head.writeBigUInt64BE(BigInt(body.length), 4);
    return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
  };
  const number = (value: number, bytes: 2 | 4) => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeUIntBE(value, 0, bytes);
    return buffer;
  };
  const label = Buffer.from('\x0enot compressed\0', 'latin1');
  return chunk(
    'FRM8',
    Buffer.from('DSD '),
    chunk('FVER', number(0x0105_0000, 4)),
    chunk(
      'PROP',
      Buffer.from('SND '),
      chunk('FS  ', number(directRate, 4)),
      chunk('CHNL', number(1, 2), Buffer.from('C   ')),
      chunk('CMPR', Buffer.from('DSD '), label),
    ),
    chunk('DSD ', data),
  );
}
