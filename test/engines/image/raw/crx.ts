import { BitStream } from './bit-stream.ts';
import type { Mosaic } from './sensor.ts';

const bits = 14;
/** How far a run goes on with each further bit, as a power of two, by how long runs have been. */
const runPowers = [
  0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15,
];
const maxZeros = 41;

export interface CrxPicture {
  /** What the sample holds: a header with all lengths, and the planes. */
  data: Buffer;
  headerBytes: number;
  tileWidth: number;
}

/** Encodes a mosaic without loss as the CRX of Canon's cameras: two tiles side by side, each of four planes, one for each place in the mosaic. */
export function encodeCrx(mosaic: Mosaic): CrxPicture {
  const tileWidth = mosaic.width / 2;
  const headers: Buffer[] = [];
  const bodies: Buffer[] = [];
  for (const tile of [0, 1]) {
    const planes = [0, 1, 2, 3].map((plane) => encodePlane(planeOf(mosaic, plane, tile * tileWidth, tileWidth)));
    const size = planes.reduce((sum, { length }) => sum + length, 0);
    headers.push(header(0xff01, size, tile * 0x1_0000));
    for (const [index, plane] of planes.entries()) {
      // Whole lines are predicted from the line above.
      headers.push(header(0xff02, plane.length, index * 0x1000_0000 + 0x0800_0000), header(0xff03, plane.length, 0));
    }
    bodies.push(...planes);
  }
  const start = Buffer.concat(headers);
  return { data: Buffer.concat([start, ...bodies]), headerBytes: start.length, tileWidth };
}

function header(mark: number, size: number, more: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt16BE(mark, 0);
  bytes.writeUInt16BE(8, 2);
  bytes.writeUInt32BE(size, 4);
  bytes.writeUInt32BE(more, 8);
  return bytes;
}

function planeOf({ width, height, values }: Mosaic, plane: number, left: number, columns: number): number[][] {
  return Array.from({ length: height / 2 }, (_, y) =>
    Array.from({ length: columns / 2 }, (__, x) => {
      const at = (y * 2 + (plane >> 1)) * width + left + x * 2 + (plane & 1);
      return (values[at] ?? 0) - 2 ** (bits - 1);
    }),
  );
}

function encodePlane(lines: number[][]): Buffer {
  const encoder = new LineEncoder();
  for (const line of lines) encoder.write(line);
  return encoder.bytes();
}

/** Lines have one value before the first and one after the last, for the prediction. */
class LineEncoder {
  readonly #stream = new BitStream();
  #above: number[] | undefined;
  /** Bits that follow the zeros of a code; adapts to the size of errors. */
  #low = 0;
  /** Adapts to the length of runs. */
  #run = 0;

  bytes(): Buffer {
    const bytes = this.#stream.bytes(0);
    return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
  }

  write(values: number[]): void {
    const above = this.#above;
    const line = [above?.[1] ?? 0, ...values, (values.at(-1) ?? 0) + 1];
    if (above) this.#writeLine(line, above, values.length);
    else this.#writeFirst(line, values.length);
    this.#above = line;
  }

  #writeFirst(line: number[], width: number): void {
    for (let at = 0; at < width; at++) {
      const left = line[at] ?? 0;
      if (left === 0 && at < width - 1) at += this.#writeRun(line, at, width);
      if (at >= width) return;
      this.#adapt(this.#writeError((line[at + 1] ?? 0) - (line[at] ?? 0)));
    }
  }

  #writeLine(line: number[], above: number[], width: number): void {
    for (let at = 0; at < width; at++) {
      const isFlat = line[at] === above[at + 1] && line[at] === above[at + 2] && at < width - 1;
      if (isFlat) at += this.#writeRun(line, at, width);
      if (at >= width) return;
      const predicted = isFlat ? (above[at + 1] ?? 0) : predict(line[at] ?? 0, above[at] ?? 0, above[at + 1] ?? 0);
      const code = this.#writeError((line[at + 1] ?? 0) - predicted);
      const step = 2 * Math.abs((above[at + 2] ?? 0) - (above[at + 1] ?? 0));
      this.#adapt(at < width - 1 ? (code + step) >> 1 : code);
    }
  }

  /** Writes how many values are the same as the one before them, and returns it. */
  #writeRun(line: number[], at: number, width: number): number {
    const max = width - at;
    let count = 0;
    while (count < max && line[at + count + 1] === line[at]) count += 1;
    this.#stream.write(count > 0 ? 1 : 0, 1);
    if (count === 0) return 0;
    for (let covered = 1; covered < count || covered < max; ) {
      const power = runPowers[this.#run] ?? 0;
      const next = covered + 2 ** power;
      if (next > count && count < max) {
        this.#stream.write(0, 1);
        this.#stream.write(count - covered, power);
        this.#run = Math.max(0, this.#run - 1);
        return count;
      }
      this.#stream.write(1, 1);
      if (next > max) return count;
      this.#run = Math.min(31, this.#run + 1);
      covered = next;
    }
    return count;
  }

  #writeError(error: number): number {
    const code = error < 0 ? -2 * error - 1 : 2 * error;
    const zeros = Math.min(maxZeros, code >> this.#low);
    this.#stream.write(0, zeros);
    this.#stream.write(1, 1);
    if (zeros === maxZeros) this.#stream.write(code, 21);
    else this.#stream.write(code, this.#low);
    return code;
  }

  #adapt(code: number): void {
    const high = code >> this.#low;
    const shrink = code < (1 << this.#low) >> 1 ? 1 : 0;
    this.#low = Math.min(15, this.#low - shrink + (high > 2 ? 1 : 0) + (high > 5 ? 1 : 0));
  }
}

/** The median of the left value, the upper value and their extrapolation. */
function predict(left: number, corner: number, above: number): number {
  const slope = left + above - corner;
  return [left, above, slope].toSorted((one, other) => one - other)[1] ?? left;
}
