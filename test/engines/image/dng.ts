/** Makes a DNG of raw sensor values (a mosaic of red, green and blue) from a PPM, as a camera of a known colour response would. */
export function makeDng(ppm: Buffer): Buffer {
  const header = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(ppm.toString('latin1', 0, 40));
  if (!header) throw new Error('The source is not a PPM of 8 bits.');
  const [width, height] = [Number(header[1]), Number(header[2])];
  const pixels = ppm.subarray(header[0].length);
  const sensor = Buffer.alloc(width * height * 2);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      // RGGB.
      const channel = y % 2 === 0 ? (x % 2 === 0 ? 0 : 1) : x % 2 === 0 ? 1 : 2;
      const value = (pixels[(y * width + x) * 3 + channel] ?? 0) / 255;
      const linear = value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      sensor.writeUInt16LE(Math.round(linear * 16_383), (y * width + x) * 2);
    }
  }
  return tiffOf(width, height, sensor);
}

type Entry = [tag: number, type: number, values: number[] | string];

const typeBytes: Record<number, number> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 10: 8 };

function tiffOf(width: number, height: number, sensor: Buffer): Buffer {
  // From the colours of screens to those of the eye and back: the camera sees what a screen shows.
  const fromXyz = [3.2406, -1.5372, -0.4986, -0.9689, 1.8758, 0.0415, 0.0557, -0.204, 1.057];
  const entries: Entry[] = [
    [254, 4, [0]],
    [256, 4, [width]],
    [257, 4, [height]],
    [258, 3, [16]],
    [259, 3, [1]],
    [262, 3, [32_803]],
    [271, 2, 'Lathe\0'],
    [272, 2, 'Test camera\0'],
    [273, 4, [0]],
    [274, 3, [1]],
    [277, 3, [1]],
    [278, 4, [height]],
    [279, 4, [sensor.length]],
    [284, 3, [1]],
    [33_421, 3, [2, 2]],
    [33_422, 1, [0, 1, 1, 2]],
    [50_706, 1, [1, 4, 0, 0]],
    [50_707, 1, [1, 1, 0, 0]],
    [50_708, 2, 'Lathe Test camera\0'],
    [50_714, 3, [0]],
    [50_717, 4, [16_383]],
    [50_721, 10, fromXyz.flatMap((value) => [Math.round(value * 10_000), 10_000])],
    [50_728, 5, [1, 1, 1, 1, 1, 1]],
    [50_778, 3, [21]],
  ];
  const directory = Buffer.alloc(2 + entries.length * 12 + 4);
  directory.writeUInt16LE(entries.length, 0);
  const extra: Buffer[] = [];
  let extraAt = 8 + directory.length;
  const places = entries.map(([tag, type, values], index) => {
    const data = encode(type, values);
    const at = 2 + index * 12;
    directory.writeUInt16LE(tag, at);
    directory.writeUInt16LE(type, at + 2);
    directory.writeUInt32LE(data.length / (typeBytes[type] ?? 1), at + 4);
    if (data.length <= 4) data.copy(directory, at + 8);
    else {
      directory.writeUInt32LE(extraAt, at + 8);
      extra.push(data);
      extraAt += data.length;
    }
    return at;
  });
  const stripPlace = places[entries.findIndex(([tag]) => tag === 273)] ?? 0;
  directory.writeUInt32LE(extraAt, stripPlace + 8);
  const head = Buffer.from([0x49, 0x49, 42, 0, 8, 0, 0, 0]);
  return Buffer.concat([head, directory, ...extra, sensor]);
}

function encode(type: number, values: number[] | string): Buffer {
  if (typeof values === 'string') return Buffer.from(values, 'latin1');
  const bytes = type === 1 ? 1 : type === 3 ? 2 : 4;
  const data = Buffer.alloc(values.length * bytes);
  for (const [index, value] of values.entries()) {
    if (bytes === 1) data.writeUInt8(value, index);
    else if (bytes === 2) data.writeUInt16LE(value, index * 2);
    else if (type === 10) data.writeInt32LE(value, index * 4);
    else data.writeUInt32LE(value, index * 4);
  }
  return data;
}
