const sectorBytes = 512;
const free = 0xffffffff;
const endOfChain = 0xfffffffe;
const fatSector = 0xfffffffd;

/**
 * Writes a compound file (MS-CFB) of a few streams, each of at least 4096 bytes so that none is in the mini stream. A name
 * with a slash is a stream in a storage.
 */
export function compoundFile(streams: Record<string, Buffer>): Buffer {
  const places = Object.keys(streams).map((name) => name.split('/'));
  const members = (path: string[]) =>
    // The members of a storage are a tree in this order.
    [
      ...new Set(
        places.filter((place) => path.every((part, at) => place[at] === part)).map((place) => place[path.length] ?? ''),
      ),
    ]
      .filter((name) => name !== '')
      .sort((one, other) => one.length - other.length || (one < other ? -1 : 1));
  const entries: Buffer[] = [];
  const contents: { entry: number; bytes: Buffer }[] = [];
  const add = (path: string[], right: number): number => {
    const index = entries.length;
    const content = streams[path.join('/')];
    const bytes = content && padded(content, 4096);
    entries.push(
      entry(path.at(-1) ?? 'Root Entry', {
        type: bytes ? 2 : path.length === 0 ? 5 : 1,
        right,
        size: bytes?.length ?? 0,
      }),
    );
    if (bytes) contents.push({ entry: index, bytes });
    // From the last to the first, because each names the one after it.
    const child = members(path).reduceRight((after, name) => add([...path, name], after), free);
    entries[index]?.writeUInt32LE(child, 76);
    return index;
  };
  add([], free);
  const directory = padded(Buffer.concat(entries), sectorBytes);
  const sectors = [directory, ...contents.map(({ bytes }) => bytes)].reduce(
    (sum, { length }) => sum + Math.ceil(length / sectorBytes),
    0,
  );
  const perSector = sectorBytes / 4;
  const tables = Math.ceil(sectors / (perSector - 1));
  const fat: number[] = Array.from({ length: tables }, () => fatSector);
  const place = (bytes: Buffer) => {
    const start = fat.length;
    const count = Math.ceil(bytes.length / sectorBytes);
    for (let index = 1; index <= count; index++) fat.push(index === count ? endOfChain : start + index);
    return start;
  };
  const directoryStart = place(directory);
  for (const { entry: index, bytes } of contents) directory.writeUInt32LE(place(bytes), index * 128 + 116);
  const table = Buffer.alloc(tables * sectorBytes, 0xff);
  for (const [index, next] of fat.entries()) table.writeUInt32LE(next, index * 4);
  return Buffer.concat([header(directoryStart, tables), table, directory, ...contents.map(({ bytes }) => bytes)]);
}

function header(directoryStart: number, tables: number): Buffer {
  const bytes = Buffer.alloc(sectorBytes, 0xff);
  bytes.fill(0, 0, 76);
  bytes.write('d0cf11e0a1b11ae1', 'hex');
  for (const [at, value] of [
    [24, 0x3e],
    [26, 3],
    [28, 0xfffe],
    [30, 9],
    [32, 6],
  ] as const)
    bytes.writeUInt16LE(value, at);
  for (const [at, value] of [
    [44, tables],
    [48, directoryStart],
    [56, 4096],
    [60, endOfChain],
    [68, endOfChain],
  ] as const)
    bytes.writeUInt32LE(value, at);
  for (let index = 0; index < tables; index++) bytes.writeUInt32LE(index, 76 + index * 4);
  return bytes;
}

function entry(name: string, { type, right, size }: { type: number; right: number; size: number }): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.write(name, 'utf16le');
  bytes.writeUInt16LE(name.length * 2 + 2, 64);
  bytes.writeUInt8(type, 66);
  bytes.writeUInt8(1, 67);
  for (const [at, value] of [
    [68, free],
    [72, right],
    [76, free],
    [116, endOfChain],
    [120, size],
  ] as const)
    bytes.writeUInt32LE(value, at);
  return bytes;
}

function padded(bytes: Buffer, multiple: number): Buffer {
  const length = Math.max(multiple, Math.ceil(bytes.length / sectorBytes) * sectorBytes);
  return Buffer.concat([bytes, Buffer.alloc(length - bytes.length)]);
}

/** Writes a document of Word 6 (nFib 101) or 95 (104): text, one section, and no formatting. */
export function oldWord(text: string, version: 101 | 104): Buffer {
  const fibBytes = 0x300;
  const body = Buffer.from(`${text}\r`, 'latin1');
  const fib = Buffer.alloc(fibBytes);
  fib.writeUInt16LE(0xa5dc, 0);
  fib.writeUInt16LE(version, 2);
  fib.writeUInt16LE(0x0409, 6);
  fib.writeUInt16LE(version, 12);
  fib.writeUInt32LE(fibBytes, 0x18);
  fib.writeUInt32LE(fibBytes + body.length, 0x1c);
  fib.writeUInt32LE(fibBytes + body.length, 0x20);
  fib.writeUInt32LE(body.length, 0x34);
  return compoundFile({ WordDocument: Buffer.concat([fib, body]) });
}
