import { BitStream } from './bit-stream.ts';
import type { Mosaic } from './sensor.ts';

const bits = 14;
/** Codes for how many bits a difference has: fourteen of 4 bits and one of 5. */
const codes = Array.from({ length: 15 }, (_, size) =>
  size < 14 ? { code: size, length: 4 } : { code: 0b11100, length: 5 },
);

/** Encodes a mosaic as cameras do: a lossless JPEG whose two components are the columns in turn, each predicted from its left. */
export function encodeLosslessJpeg({ width, height, values }: Mosaic): Buffer {
  const stream = new BitStream();
  for (let at = 0; at < values.length; at++) {
    const [x, y] = [at % width, Math.floor(at / width)];
    const predicted = x >= 2 ? values[at - 2] : y > 0 ? values[at - width] : 2 ** (bits - 1);
    const difference = (values[at] ?? 0) - (predicted ?? 0);
    const size = 32 - Math.clz32(Math.abs(difference));
    const { code, length } = codes[size] ?? { code: 0, length: 0 };
    stream.write(code, length);
    stream.write(difference < 0 ? difference + 2 ** size - 1 : difference, size);
  }
  const [lines, columns] = [height, width / 2].map((value) => [value >> 8, value & 255]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xc4, [0, 0, 0, 0, 14, 1, ...Array(11).fill(0), ...codes.keys()]),
    segment(0xc3, [bits, ...(lines ?? []), ...(columns ?? []), 2, 1, 0x11, 0, 2, 0x11, 0]),
    segment(0xda, [2, 1, 0, 2, 0, 1, 0, 0]),
    withoutMarkers(stream.bytes(1)),
    Buffer.from([0xff, 0xd9]),
  ]);
}

function segment(marker: number, data: number[]): Buffer {
  return Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 255, ...data]);
}

/** A marker's first byte is never alone in the data. */
function withoutMarkers(bytes: Buffer): Buffer {
  return Buffer.from([...bytes].flatMap((byte) => (byte === 0xff ? [byte, 0] : [byte])));
}
