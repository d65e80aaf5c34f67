/** A picture of indices into 256 colours. */
export interface Indexed {
  width: number;
  height: number;
  indices: Uint8Array;
  palette: Uint8Array;
}

/** Numbers the colours of a picture of at most 256. */
export function toIndexed(rgb: Uint8Array, width: number, height: number): Indexed {
  const palette = new Uint8Array(768);
  const numbers = new Map<number, number>();
  const indices = Uint8Array.from({ length: width * height }, (_, pixel) => {
    const [red = 0, green = 0, blue = 0] = rgb.subarray(pixel * 3, pixel * 3 + 3);
    const colour = (red << 16) | (green << 8) | blue;
    const number = numbers.get(colour) ?? numbers.size;
    if (!numbers.has(colour)) palette.set([red, green, blue], number * 3);
    numbers.set(colour, number);
    return number;
  });
  if (numbers.size > 256) throw new Error(`The picture has ${numbers.size} colours.`);
  return { width, height, indices, palette };
}

function chunk(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(6);
  head.writeUInt32LE(data.length + 6, 0);
  head.writeUInt16LE(type, 4);
  return Buffer.concat([head, data]);
}

function frame(chunks: Buffer[]): Buffer {
  const body = Buffer.concat(chunks);
  const head = Buffer.alloc(16);
  head.writeUInt32LE(body.length + 16, 0);
  head.writeUInt16LE(0xf1fa, 4);
  head.writeUInt16LE(chunks.length, 6);
  return Buffer.concat([head, body]);
}

const colours = (type: 4 | 11, palette: Uint8Array) =>
  chunk(type, Buffer.from([1, 0, 0, 0, ...palette.map((value) => (type === 11 ? value >> 2 : value))]));

/** Every line as runs of equal pixels and literal ones in turn. */
function runs({ width, height, indices }: Indexed): Buffer {
  const bytes: number[] = [];
  for (let y = 0; y < height; y++) {
    const line = indices.subarray(y * width, (y + 1) * width);
    bytes.push(0);
    for (let x = 0; x < width; ) {
      let run = 1;
      while (run < 127 && x + run < width && line[x + run] === line[x]) run += 1;
      if (run > 1) bytes.push(run, line[x] ?? 0);
      else bytes.push(256 - 1, line[x] ?? 0);
      x += run;
    }
  }
  return chunk(15, Buffer.from(bytes));
}

/** Says of every line from the first that changes which byte from left to right becomes another. */
function byteDelta(before: Indexed, { width, height, indices }: Indexed): Buffer {
  const bytes: number[] = [];
  for (let y = 0; y < height; y++) {
    const packets: number[] = [];
    let [count, skip] = [0, 0];
    for (let x = 0; x < width; x++, skip++) {
      const isSame = before.indices[y * width + x] === indices[y * width + x];
      if (isSame && skip < 254) continue;
      packets.push(skip, 1, indices[y * width + x] ?? 0);
      count += 1;
      skip = -1;
    }
    bytes.push(count, ...packets);
  }
  return chunk(12, Buffer.concat([Buffer.from([0, 0, height & 255, height >> 8]), Buffer.from(bytes)]));
}

/** Says of every line that changes which pairs of pixels become others. */
function wordDelta(before: Indexed, { width, height, indices }: Indexed): Buffer {
  const words: Buffer[] = [];
  const word = (value: number) => {
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16LE(value & 0xffff);
    return bytes;
  };
  let [lines, skipped] = [0, 0];
  for (let y = 0; y < height; y++) {
    const packets: Buffer[] = [];
    let skip = 0;
    for (let x = 0; x < width; x += 2, skip += 2) {
      const at = y * width + x;
      const isSame = before.indices[at] === indices[at] && before.indices[at + 1] === indices[at + 1];
      if (isSame && skip < 252) continue;
      // A run of one pair and a literal pair are written in turn.
      packets.push(Buffer.from([skip, packets.length % 2 === 0 ? 1 : 255, indices[at] ?? 0, indices[at + 1] ?? 0]));
      skip = -2;
    }
    if (packets.length === 0) {
      skipped += 1;
      continue;
    }
    if (skipped > 0) words.push(word(-skipped));
    skipped = 0;
    words.push(word(packets.length), ...packets);
    lines += 1;
  }
  return chunk(7, Buffer.concat([word(lines), ...words]));
}

/** Writes an animation of pictures that share a palette: FLI with changes of bytes, or FLC with changes of words. */
export function animatorFile(kind: 'fli' | 'flc', pictures: Indexed[], speed: number): Buffer {
  const [first] = pictures;
  if (!first) throw new Error('An animation needs a picture.');
  const frames = pictures.map((picture, index) => {
    const before = pictures[index - 1];
    if (!before) return frame([colours(kind === 'fli' ? 11 : 4, picture.palette), runs(picture)]);
    return frame([kind === 'fli' ? byteDelta(before, picture) : wordDelta(before, picture)]);
  });
  const header = Buffer.alloc(128);
  header.writeUInt16LE(kind === 'fli' ? 0xaf11 : 0xaf12, 4);
  header.writeUInt16LE(pictures.length, 6);
  header.writeUInt16LE(first.width, 8);
  header.writeUInt16LE(first.height, 10);
  header.writeUInt16LE(8, 12);
  header.writeUInt16LE(3, 14);
  header.writeUInt32LE(speed, 16);
  if (kind === 'flc') {
    header.writeUInt32LE(128, 80);
    header.writeUInt32LE(128 + (frames[0]?.length ?? 0), 84);
  }
  header.writeUInt32LE(header.length + frames.reduce((sum, { length }) => sum + length, 0), 0);
  return Buffer.concat([header, ...frames]);
}
