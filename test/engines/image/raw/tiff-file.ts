/** What a tag holds: numbers, text, bytes kept elsewhere in the file, directories of its own, or a maker's note. */
export type Value = number[] | string | { bytes: Buffer } | { directories: Entry[][] } | Note;

/** A directory behind a mark, its places counted from the start of the file or of the note. */
interface Note {
  mark: string;
  note: Entry[];
  from: 'file' | 'note';
}

export type Entry = [tag: number, type: keyof typeof typeBytes, value: Value];

const typeBytes = { byte: 1, ascii: 1, short: 2, long: 4, rational: 4, undefined: 1, srational: 4 };
const typeCodes = { byte: 1, ascii: 2, short: 3, long: 4, rational: 5, undefined: 7, srational: 10 };

export interface TiffKind {
  /** Cameras write both orders. */
  order?: 'little' | 'big';
  /** The number after the byte order, which several cameras change. */
  mark?: number;
  /** Stands between the header and the first directory. */
  preface?: Buffer;
}

/** Writes a TIFF of one directory, or of several one after the other. */
export function writeTiff(directories: Entry[][], { order = 'little', mark = 42, preface }: TiffKind = {}): Buffer {
  const file = new TiffFile(order, mark);
  if (preface) file.append(preface);
  file.setFirst(file.addDirectories(directories)[0] ?? 0);
  return file.bytes();
}

class TiffFile {
  readonly #isLittle: boolean;
  readonly #parts: Buffer[] = [];
  #length = 0;

  constructor(order: 'little' | 'big', mark: number) {
    this.#isLittle = order === 'little';
    const head = Buffer.alloc(8);
    head.write(this.#isLittle ? 'II' : 'MM', 'latin1');
    this.#write(head, 2, mark, 2);
    this.append(head);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  setFirst(place: number): void {
    const [head] = this.#parts;
    if (head) this.#write(head, 4, place, 4);
  }

  append(data: Buffer): number {
    const place = this.#length;
    const part = data.length % 2 === 0 ? data : Buffer.concat([data, Buffer.alloc(1)]);
    this.#parts.push(part);
    this.#length += part.length;
    return place;
  }

  /** Chains directories and returns their places. */
  addDirectories(directories: Entry[][]): number[] {
    const added = directories.map((entries) => this.#addDirectory(entries));
    for (const [index, { table }] of added.entries()) {
      this.#write(table, table.length - 4, added[index + 1]?.place ?? 0, 4);
    }
    return added.map(({ place }) => place);
  }

  #addDirectory(entries: Entry[]): { place: number; table: Buffer } {
    const table = Buffer.alloc(2 + entries.length * 12 + 4);
    const place = this.append(table);
    this.#fill(table, entries);
    return { place, table };
  }

  #addNote({ mark, note, from }: Note): { place: number; length: number } {
    const start = Buffer.from(mark, 'latin1');
    const part = Buffer.concat([start, Buffer.alloc(2 + note.length * 12 + 4)]);
    const place = this.append(part);
    this.#fill(part.subarray(start.length), note, from === 'note' ? place : 0);
    return { place, length: part.length };
  }

  #fill(table: Buffer, entries: Entry[], origin = 0): void {
    this.#write(table, 0, entries.length, 2);
    const sorted = entries.toSorted(([one], [other]) => one - other);
    for (const [index, [tag, type, value]] of sorted.entries()) {
      const at = 2 + index * 12;
      this.#write(table, at, tag, 2);
      this.#write(table, at + 2, typeCodes[type], 2);
      if (typeof value === 'object' && 'note' in value) {
        const { place, length } = this.#addNote(value);
        this.#write(table, at + 4, length, 4);
        this.#write(table, at + 8, place, 4);
        continue;
      }
      const data = this.#encode(type, value);
      const valueBytes = type.endsWith('rational') ? 8 : typeBytes[type];
      this.#write(table, at + 4, data.length / valueBytes, 4);
      if (data.length <= 4) data.copy(table, at + 8);
      else this.#write(table, at + 8, this.append(data) - origin, 4);
    }
  }

  #encode(type: Entry[1], value: Exclude<Value, Note>): Buffer {
    if (typeof value === 'string') return Buffer.from(`${value}\0`, 'latin1');
    if ('directories' in value) {
      // Apart from each other: only the parent knows them.
      return this.#numbers(
        'long',
        value.directories.flatMap((entries) => this.addDirectories([entries])),
      );
    }
    if ('bytes' in value) return type === 'undefined' ? value.bytes : this.#numbers('long', [this.append(value.bytes)]);
    return this.#numbers(type, value);
  }

  #numbers(type: Entry[1], values: number[]): Buffer {
    const bytes = typeBytes[type];
    const data = Buffer.alloc(values.length * bytes);
    for (const [index, value] of values.entries()) this.#write(data, index * bytes, value, bytes);
    return data;
  }

  #write(target: Buffer, at: number, value: number, bytes: number): void {
    const unsigned = value < 0 ? value + 2 ** (8 * bytes) : value;
    if (this.#isLittle) target.writeUIntLE(unsigned, at, bytes);
    else target.writeUIntBE(unsigned, at, bytes);
  }
}
