const mark = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const headerBytes = 512;
const entryBytes = 128;
/** Larger numbers mark the end of a chain and sectors without one. */
const maxSector = 0xfffffffa;
const miniBytes = 64;
/** Places of FAT sectors that the header holds; further ones are in sectors of their own. */
const placesInHeader = 109;

/** A stream, or a storage, which is a folder of others. */
export interface Entry {
  name: string;
  isStorage: boolean;
  left: number;
  right: number;
  child: number;
  start: number;
  size: number;
}

/**
 * The directory of a compound file (MS-CFB), as far as its bytes are there. Unlike a search for names in the file, it tells
 * the streams of a document from those of documents that are embedded in it. Every number in the file may be wrong, so chains
 * and trees end after as many steps as the file can have sectors or entries.
 */
export class CompoundFile {
  readonly #bytes: Buffer;
  readonly #sectorBytes: number;
  readonly #fat: number[] = [];
  readonly #entries: Entry[];
  /** Streams and storages of the document itself, by name. */
  readonly #own: Map<string, Entry>;
  #small: { shared: Buffer; next: number[] } | undefined;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#sectorBytes = bytes.readUInt16LE(30) === 12 ? 4096 : 512;
    for (const sector of this.#fatSectors()) this.#fat.push(...numbersIn(this.#sector(sector)));
    const directory = this.#chain(bytes.readUInt32LE(48)).map((sector) => this.#sector(sector));
    this.#entries = entriesIn(Buffer.concat(directory));
    this.#own = this.members();
  }

  /** Reads a compound file, or the start of one. Returns undefined for any other file. */
  static read(bytes: Buffer): CompoundFile | undefined {
    return bytes.length >= headerBytes && bytes.subarray(0, mark.length).equals(mark)
      ? new CompoundFile(bytes)
      : undefined;
  }

  /** Returns whether the document has a stream or storage of this name. */
  has(name: string): boolean {
    return this.#own.has(name);
  }

  /** Returns the start of a stream, which is shorter if the file is; undefined if there is none of this name. */
  start(name: string, count: number): Buffer | undefined {
    const entry = this.#own.get(name);
    return entry && this.read(entry, count);
  }

  /** Returns the start of a stream, which is shorter if the file is. */
  read(entry: Entry, count = this.#bytes.length): Buffer {
    const size = Math.min(entry.size, count);
    const isMini = entry.size < this.#bytes.readUInt32LE(56);
    return (isMini ? this.#mini(entry.start, size) : this.#content(entry.start, size)).subarray(0, size);
  }

  #content(start: number, size: number): Buffer {
    const sectors = this.#chain(start, Math.ceil(size / this.#sectorBytes));
    return Buffer.concat(sectors.map((sector) => this.#sector(sector)));
  }

  /** Small streams share the stream of the root, in small sectors. */
  #mini(start: number, size: number): Buffer {
    const root = this.#entries[0];
    this.#small ??= {
      shared: root ? this.#content(root.start, root.size) : Buffer.alloc(0),
      next: this.#chain(this.#bytes.readUInt32LE(60)).flatMap((sector) => numbersIn(this.#sector(sector))),
    };
    const { shared, next } = this.#small;
    const sectors = follow(next, start, Math.ceil(size / miniBytes));
    return Buffer.concat(sectors.map((sector) => shared.subarray(sector * miniBytes, (sector + 1) * miniBytes)));
  }

  #fatSectors(): number[] {
    const perSector = this.#sectorBytes / 4 - 1;
    const places = numbersIn(this.#bytes.subarray(76, 76 + placesInHeader * 4));
    const maxSteps = this.#bytes.length / this.#sectorBytes;
    // Each describes as many sectors as it has numbers.
    const maxPlaces = Math.ceil(maxSteps / (perSector + 1));
    let next = this.#bytes.readUInt32LE(68);
    for (let step = 0; step < maxSteps && next < maxSector; step++) {
      const numbers = numbersIn(this.#sector(next));
      places.push(...numbers.slice(0, perSector));
      next = numbers[perSector] ?? maxSector;
    }
    return places.filter((sector) => sector < maxSector).slice(0, maxPlaces);
  }

  #chain(start: number, max = Number.POSITIVE_INFINITY): number[] {
    return follow(this.#fat, start, Math.min(max, this.#bytes.length / this.#sectorBytes));
  }

  #sector(sector: number): Buffer {
    return this.#bytes.subarray((sector + 1) * this.#sectorBytes, (sector + 2) * this.#sectorBytes);
  }

  /** Returns the members of a storage, by default the root. They are a binary tree, which need not be searched in order. */
  members(storage = this.#entries[0]): Map<string, Entry> {
    const found = new Map<string, Entry>();
    const seen = new Set<number>();
    const pending = [storage?.child ?? maxSector];
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      const entry = this.#entries[index];
      if (!entry || seen.has(index)) continue;
      seen.add(index);
      found.set(entry.name, entry);
      pending.push(entry.left, entry.right);
    }
    return found;
  }
}

/** Follows a chain of sectors. Its first one counts even if the table with the others is not there. */
function follow(next: readonly number[], start: number, max: number): number[] {
  const sectors: number[] = [];
  for (let sector = start; sector < maxSector && sectors.length < max; sector = next[sector] ?? maxSector)
    sectors.push(sector);
  return sectors;
}

function numbersIn(bytes: Buffer): number[] {
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_value, index) => bytes.readUInt32LE(index * 4));
}

function entriesIn(directory: Buffer): Entry[] {
  return Array.from({ length: Math.floor(directory.length / entryBytes) }, (_value, index) => {
    const entry = directory.subarray(index * entryBytes, (index + 1) * entryBytes);
    return {
      name: entry.toString('utf16le', 0, Math.max(0, Math.min(64, entry.readUInt16LE(64)) - 2)),
      isStorage: entry[66] === 1,
      left: entry.readUInt32LE(68),
      right: entry.readUInt32LE(72),
      child: entry.readUInt32LE(76),
      start: entry.readUInt32LE(116),
      size: entry.readUInt32LE(120),
    };
  });
}
