const [short, long] = [3, 4];

/** Writes a little-endian TIFF of one page and one strip from its tags; a tag of several values takes them as shorts. */
export function tiffFile(data: Buffer, tags: Record<number, number | number[]>): Buffer {
  const strip = 8;
  const padded = data.length & 1 ? Buffer.concat([data, Buffer.alloc(1)]) : data;
  const all: Record<number, number | number[]> = { ...tags, 273: strip, 279: data.length };
  const behind: Buffer[] = [];
  let end = strip + padded.length;
  const entries = Object.entries(all).map(([tag, value]) => {
    const entry = Buffer.alloc(12);
    entry.writeUInt16LE(Number(tag), 0);
    if (typeof value === 'number') {
      entry.writeUInt16LE(value > 0xffff || [273, 279, 513, 514].includes(Number(tag)) ? long : short, 2);
      entry.writeUInt32LE(1, 4);
      entry.writeUInt32LE(value, 8);
      return entry;
    }
    entry.writeUInt16LE(short, 2);
    entry.writeUInt32LE(value.length, 4);
    const values = Buffer.alloc(value.length * 2);
    for (const [index, number] of value.entries()) values.writeUInt16LE(number, index * 2);
    if (values.length <= 4) values.copy(entry, 8);
    else {
      entry.writeUInt32LE(end, 8);
      behind.push(values);
      end += values.length;
    }
    return entry;
  });
  const count = Buffer.alloc(2);
  count.writeUInt16LE(entries.length);
  const head = Buffer.from('II*\0\0\0\0\0', 'latin1');
  head.writeUInt32LE(end, 4);
  return Buffer.concat([head, padded, ...behind, count, ...entries, Buffer.alloc(4)]);
}

/** Packs greys of 8 bits as 12, the lower four being a copy of the upper. */
export function twelveBits(greys: Uint8Array, width: number): Buffer {
  const lines: Buffer[] = [];
  for (let start = 0; start < greys.length; start += width) {
    const line = Buffer.alloc(Math.ceil((width * 12) / 8));
    for (let x = 0; x < width; x++) {
      const value = ((greys[start + x] ?? 0) << 4) | ((greys[start + x] ?? 0) >> 4);
      const at = (x * 3) >> 1;
      if (x % 2 === 0) {
        line[at] = value >> 4;
        line[at + 1] = (value & 15) << 4;
      } else {
        line[at] = (line[at] ?? 0) | (value >> 8);
        line[at + 1] = value & 0xff;
      }
    }
    lines.push(line);
  }
  return Buffer.concat(lines);
}

/** Returns the positions of the links to the directories, in page order. */
export function directoryPointers(tiff: Buffer): number[] {
  const pointers = [4];
  for (let pointer = 4; ; ) {
    const at = tiff.readUInt32LE(pointer);
    if (at === 0) return pointers;
    pointer = at + 2 + tiff.readUInt16LE(at) * 12;
    pointers.push(pointer);
  }
}
