import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  assertPartChecksum,
  type Checksum,
  combineChecksums,
  invalidRequest,
  type ObjectChecksum,
  type UploadChecksum,
} from './checksums.ts';
import { noSuchKey, S3Error } from './error.ts';

const minPartBytes = 5 * 1024 * 1024;
const keyPage = 1000;
/** Fewer, larger steps of large objects. */
const highWaterMark = 512 * 1024;

export type Metadata = Record<string, string>;

export interface Tag {
  key: string;
  value: string;
}

export interface StoredObject {
  bucket: string;
  key: string;
  size: number;
  etag: string;
  modified: number;
  metadata: Metadata;
  checksum: ObjectChecksum | undefined;
}

export interface Part {
  number: number;
  size: number;
  md5: string;
  /** In the upload's algorithm, if it has one. */
  checksum: string | undefined;
}

/** A part in a request to complete an upload. */
export interface NamedPart {
  number: number;
  etag: string;
  checksum: Checksum | undefined;
}

/** How a multipart upload was started. */
export interface UploadStart {
  metadata: Metadata;
  checksum: UploadChecksum | undefined;
}

/** A multipart upload that is neither complete nor aborted. */
export interface IncompleteUpload {
  key: string;
  id: string;
  /** In milliseconds. */
  started: number;
}

/** Bytes on disk that belong to no object yet. */
export interface Blob {
  file: string;
  size: number;
  md5: string;
}

export interface Listing {
  objects: StoredObject[];
  commonPrefixes: string[];
  /** The last listed key or common prefix, if there are more. */
  next: string | undefined;
}

interface Segment {
  file: string;
  size: number;
}

interface Row extends StoredObject {
  segments: Segment[];
}

/**
 * Stores objects as files with an index in SQLite.
 * The bytes are written first, under a unique name, and the index row is the commit. An object is therefore complete or
 * absent after a kill, and a key never becomes a path.
 */
export class ObjectStore {
  readonly #db: DatabaseSync;
  readonly #blobs: string;
  readonly #buckets: Set<string>;
  readonly #readers = new Map<string, number>();
  readonly #doomed = new Set<string>();
  readonly #statements;

  constructor(directory: string, buckets: string[]) {
    this.#blobs = join(directory, 'blobs');
    this.#buckets = new Set(buckets);
    mkdirSync(this.#blobs, { recursive: true });
    this.#db = new DatabaseSync(join(directory, 'objects.db'));
    // The write-ahead log survives a kill of this process without a sync to disk.
    this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;');
    this.#db.exec(schema);
    addColumns(this.#db);
    this.#statements = prepare(this.#db);
    this.#removeOrphans();
  }

  hasBucket(bucket: string): boolean {
    return this.#buckets.has(bucket);
  }

  find(bucket: string, key: string): StoredObject | undefined {
    return this.#row(bucket, key);
  }

  /** Opens an object for reading from `start` to `end`, both included. */
  open(bucket: string, key: string, start = 0, end = Number.POSITIVE_INFINITY): Readable | undefined {
    const row = this.#row(bucket, key);
    if (!row) return undefined;
    const pieces = slice(row.segments, start, end);
    for (const piece of pieces) this.#hold(piece.file);
    const [only] = pieces;
    const stream =
      pieces.length === 1 && only
        ? createReadStream(this.#path(only.file), { start: only.start, end: only.end, highWaterMark })
        : Readable.from(readAll(pieces.map((piece) => ({ ...piece, path: this.#path(piece.file) }))));
    stream.once('close', () => {
      for (const piece of pieces) this.#release(piece.file);
    });
    return stream;
  }

  /** Writes bytes to disk. They are invisible until `commit`. */
  async write(content: Readable): Promise<Blob> {
    const file = randomUUID();
    const hash = createHash('md5');
    let size = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        size += chunk.length;
        done(null, chunk);
      },
    });
    try {
      await pipeline(content, measure, createWriteStream(this.#path(file), { flags: 'wx', highWaterMark }));
    } catch (error) {
      await rm(this.#path(file), { force: true });
      throw error;
    }
    return { file, size, md5: hash.digest('hex') };
  }

  /** Makes written bytes the object of a key, replacing any existing one; deletes them if the check throws. */
  commit(
    bucket: string,
    key: string,
    blob: Blob,
    { metadata, checksum, check }: { metadata: Metadata; checksum?: Checksum | undefined; check?: () => void },
  ): StoredObject {
    if (check) this.#checkOrDiscard(blob, check);
    return this.#replace(bucket, key, [{ file: blob.file, size: blob.size }], {
      etag: blob.md5,
      metadata,
      checksum: checksum && { ...checksum, type: 'FULL_OBJECT' },
    });
  }

  /** Deletes written bytes without committing them. */
  discard(blob: Blob): void {
    this.#remove(blob.file);
  }

  /** Copies an object, unless the check throws. Blobs are immutable, so a hard link is enough. */
  async copy(
    from: { bucket: string; key: string },
    to: { bucket: string; key: string },
    metadata: Metadata | undefined,
    check: (source: StoredObject) => void,
  ): Promise<StoredObject> {
    const source = this.#row(from.bucket, from.key);
    if (!source) throw noSuchKey(from.key);
    check(source);
    const segments: Segment[] = [];
    for (const segment of source.segments) this.#hold(segment.file);
    try {
      for (const { file, size } of source.segments) {
        const copy = { file: randomUUID(), size };
        await link(this.#path(file), this.#path(copy.file));
        segments.push(copy);
      }
    } finally {
      for (const segment of source.segments) this.#release(segment.file);
    }
    return this.#replace(to.bucket, to.key, segments, {
      etag: source.etag,
      metadata: metadata ?? source.metadata,
      // A copy has a single part, so S3 keeps no checksum of the former parts.
      checksum: source.checksum?.type === 'COMPOSITE' ? undefined : source.checksum,
    });
  }

  delete(bucket: string, key: string): void {
    const row = this.#row(bucket, key);
    this.#statements.deleteObject.run(bucket, key);
    for (const segment of row?.segments ?? []) this.#remove(segment.file);
  }

  list(bucket: string, options: { prefix: string; after: string; delimiter: string; limit: number }): Listing {
    const { prefix, delimiter, limit } = options;
    const listing: Listing = { objects: [], commonPrefixes: [], next: undefined };
    let after = options.after;
    let last = '';
    for (;;) {
      const rows = this.#statements.page.all(bucket, after, prefix, keyPage).map(toRow);
      for (const row of rows) {
        if (!row.key.startsWith(prefix)) return listing;
        after = row.key;
        const cut = delimiter === '' ? -1 : row.key.indexOf(delimiter, prefix.length);
        const common = cut < 0 ? undefined : row.key.slice(0, cut + delimiter.length);
        if (common !== undefined && (common === listing.commonPrefixes.at(-1) || common === options.after)) continue;
        if (listing.objects.length + listing.commonPrefixes.length === limit) {
          listing.next = last;
          return listing;
        }
        if (common === undefined) listing.objects.push(row);
        else listing.commonPrefixes.push(common);
        last = common ?? row.key;
      }
      if (rows.length < keyPage) return listing;
    }
  }

  /** Lists the keys under a prefix that were last written before a time. */
  listOlder(bucket: string, prefix: string, before: number): string[] {
    return this.#statements.older
      .all(bucket, prefix, before)
      .map((row) => String(row.key))
      .filter((key) => key.startsWith(prefix));
  }

  /** Starts a multipart upload and returns its id. */
  startUpload(bucket: string, key: string, { metadata, checksum }: UploadStart): string {
    const id = randomBytes(16).toString('hex');
    this.#statements.insertUpload.run(id, bucket, key, JSON.stringify(metadata), Date.now(), writeJson(checksum));
    return id;
  }

  /** Stores a part. Its checksum, if sent, is known once the content was read. */
  async putPart(
    bucket: string,
    key: string,
    id: string,
    { number, content, checksum }: { number: number; content: Readable; checksum: () => Checksum | undefined },
  ): Promise<Blob> {
    const upload = this.#upload(bucket, key, id);
    const blob = await this.write(content);
    this.#checkOrDiscard(blob, () => {
      // Checked again: the upload may have been completed or aborted meanwhile.
      this.#upload(bucket, key, id);
      assertPartChecksum(upload.checksum, checksum());
    });
    const kept = upload.checksum ? (checksum()?.value ?? null) : null;
    const previous = this.#statements.part.get(id, number);
    this.#statements.upsertPart.run(id, number, blob.size, blob.md5, blob.file, kept);
    if (previous) this.#remove(String(previous.file));
    return blob;
  }

  listParts(bucket: string, key: string, id: string): { parts: Part[]; checksum: UploadChecksum | undefined } {
    const { checksum } = this.#upload(bucket, key, id);
    return { parts: this.#parts(id), checksum };
  }

  /** Makes an object of the named parts, unless the checksum check throws. */
  completeUpload(
    bucket: string,
    key: string,
    id: string,
    wanted: NamedPart[],
    check: (upload: UploadChecksum | undefined, object: ObjectChecksum | undefined) => void,
  ): StoredObject {
    const upload = this.#upload(bucket, key, id);
    const parts = new Map(this.#parts(id).map((part) => [part.number, part]));
    if (wanted.some(({ number }, index) => index > 0 && number <= (wanted[index - 1]?.number ?? 0)))
      throw new S3Error('InvalidPartOrder', 'The list of parts was not in ascending order.');
    const chosen = wanted.map(({ number, etag, checksum }, index) => {
      if (upload.checksum?.type === 'COMPOSITE' && !checksum) throw missingChecksum(upload.checksum, number);
      const part = parts.get(number);
      // An upload without a checksum algorithm matches no part that names a checksum.
      const isOther =
        checksum && (checksum.algorithm !== upload.checksum?.algorithm || checksum.value !== part?.checksum);
      if (!part || part.md5 !== etag || isOther) {
        throw new S3Error(
          'InvalidPart',
          "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
          { UploadId: id, PartNumber: number, ETag: etag },
        );
      }
      if (index < wanted.length - 1 && part.size < minPartBytes) {
        throw new S3Error('EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size', {
          ProposedSize: part.size,
          MinSizeAllowed: minPartBytes,
          PartNumber: number,
          ETag: etag,
        });
      }
      return part;
    });
    const checksum =
      upload.checksum &&
      combineChecksums(
        upload.checksum,
        chosen.map((part) => ({ size: part.size, checksum: part.checksum ?? '' })),
      );
    check(upload.checksum, checksum);
    const digest = createHash('md5');
    for (const part of chosen) digest.update(part.md5, 'hex');
    const segments = chosen.map(({ file, size }) => ({ file, size }));
    const used = new Set(segments.map((segment) => segment.file));
    const etag = `${digest.digest('hex')}-${chosen.length}`;
    const object = { etag, metadata: upload.metadata, checksum };
    const stored = this.#replace(bucket, key, segments, object, () => this.#statements.deleteUpload.run(id));
    for (const part of parts.values()) if (!used.has(part.file)) this.#remove(part.file);
    return stored;
  }

  /** Lists incomplete uploads by key, and those of one key by the time of their start. */
  listUploads(
    bucket: string,
    { prefix, after, afterId, limit }: { prefix: string; after: string; afterId: string; limit: number },
  ): IncompleteUpload[] {
    const uploads = this.#statements.uploads.all(bucket).map(toUpload);
    const marked = uploads.findIndex(({ key, id }) => key === after && id === afterId);
    return uploads
      .filter(
        ({ key }, index) => key.startsWith(prefix) && (key > after || (marked >= 0 && key === after && index > marked)),
      )
      .slice(0, limit);
  }

  /** Aborts the uploads under a prefix that were started before a time and are not complete. */
  abortOlder(bucket: string, prefix: string, before: number): void {
    for (const { key, id, started } of this.#statements.uploads.all(bucket).map(toUpload))
      if (key.startsWith(prefix) && started < before) this.abortUpload(bucket, key, id);
  }

  abortUpload(bucket: string, key: string, id: string): void {
    this.#upload(bucket, key, id);
    const parts = this.#parts(id);
    this.#statements.deleteUpload.run(id);
    for (const part of parts) this.#remove(part.file);
  }

  tags(bucket: string, key: string): Tag[] {
    const row = this.#statements.tags.get(bucket, key);
    return typeof row?.tagging === 'string' ? JSON.parse(row.tagging) : [];
  }

  /** Replaces the tags of an object; returns false when there is no object. */
  setTags(bucket: string, key: string, tags: Tag[]): boolean {
    return this.#statements.setTags.run(JSON.stringify(tags), bucket, key).changes > 0;
  }

  close(): void {
    this.#db.close();
  }

  #checkOrDiscard(blob: Blob, check: () => void): void {
    try {
      check();
    } catch (error) {
      this.discard(blob);
      throw error;
    }
  }

  #row(bucket: string, key: string): Row | undefined {
    const row = this.#statements.object.get(bucket, key);
    return row && toRow(row);
  }

  #replace(
    bucket: string,
    key: string,
    segments: Segment[],
    { etag, metadata, checksum }: Pick<StoredObject, 'etag' | 'metadata' | 'checksum'>,
    alsoInTransaction?: () => void,
  ): StoredObject {
    const previous = this.#row(bucket, key);
    const modified = Date.now();
    const size = segments.reduce((sum, segment) => sum + segment.size, 0);
    this.#db.exec('BEGIN');
    try {
      this.#statements.upsertObject.run(
        bucket,
        key,
        size,
        etag,
        modified,
        JSON.stringify(metadata),
        JSON.stringify(segments),
        writeJson(checksum),
      );
      alsoInTransaction?.();
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#db.exec('ROLLBACK');
      throw error;
    }
    for (const segment of previous?.segments ?? []) this.#remove(segment.file);
    return { bucket, key, size, etag, modified, metadata, checksum };
  }

  /** Returns how an upload was started. The right to write one key must not extend to another through an upload. */
  #upload(bucket: string, key: string, id: string): UploadStart {
    const row = this.#statements.upload.get(id);
    if (!row || row.bucket !== bucket || row.key !== key) {
      throw new S3Error(
        'NoSuchUpload',
        'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
      );
    }
    return { metadata: JSON.parse(String(row.metadata)), checksum: readJson(row.checksum) };
  }

  #parts(id: string): (Part & { file: string })[] {
    return this.#statements.parts.all(id).map((row) => ({
      number: Number(row.number),
      size: Number(row.size),
      md5: String(row.md5),
      checksum: row.checksum === null ? undefined : String(row.checksum),
      file: String(row.file),
    }));
  }

  #path(file: string): string {
    return join(this.#blobs, file);
  }

  #hold(file: string): void {
    this.#readers.set(file, (this.#readers.get(file) ?? 0) + 1);
  }

  #release(file: string): void {
    const left = (this.#readers.get(file) ?? 1) - 1;
    if (left > 0) {
      this.#readers.set(file, left);
      return;
    }
    this.#readers.delete(file);
    if (this.#doomed.delete(file)) this.#remove(file);
  }

  /** Removes unreferenced bytes once their readers are done. */
  #remove(file: string): void {
    if (this.#readers.has(file)) this.#doomed.add(file);
    // Files that cannot be removed now are removed at the next start.
    else rm(this.#path(file), { force: true }).catch(() => undefined);
  }

  #removeOrphans(): void {
    const known = new Set<string>();
    for (const row of this.#statements.allSegments.all()) {
      const segments: Segment[] = JSON.parse(String(row.segments));
      for (const segment of segments) known.add(segment.file);
    }
    for (const row of this.#statements.allParts.all()) known.add(String(row.file));
    for (const file of readdirSync(this.#blobs)) {
      if (!known.has(file)) rmSync(this.#path(file), { force: true });
    }
  }
}

const schema = `
  CREATE TABLE IF NOT EXISTS objects (
    bucket TEXT NOT NULL, key TEXT NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, modified INTEGER NOT NULL,
    metadata TEXT NOT NULL, segments TEXT NOT NULL, tagging TEXT, checksum TEXT,
    PRIMARY KEY (bucket, key)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS uploads (
    id TEXT PRIMARY KEY, bucket TEXT NOT NULL, key TEXT NOT NULL, metadata TEXT NOT NULL, started INTEGER NOT NULL,
    checksum TEXT
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS parts (
    upload TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE, number INTEGER NOT NULL, size INTEGER NOT NULL,
    md5 TEXT NOT NULL, file TEXT NOT NULL, checksum TEXT,
    PRIMARY KEY (upload, number)
  ) WITHOUT ROWID;
`;

/** Adds columns that data folders of earlier versions lack. */
function addColumns(db: DatabaseSync): void {
  for (const table of ['objects', 'uploads', 'parts']) {
    const columns = db.prepare(`PRAGMA table_info(${table})`).all();
    if (!columns.some(({ name }) => name === 'checksum')) db.exec(`ALTER TABLE ${table} ADD COLUMN checksum TEXT`);
  }
}

function prepare(db: DatabaseSync) {
  return {
    object: db.prepare('SELECT * FROM objects WHERE bucket = ? AND key = ?'),
    page: db.prepare('SELECT * FROM objects WHERE bucket = ? AND key > ? AND key >= ? ORDER BY key LIMIT ?'),
    older: db.prepare('SELECT key FROM objects WHERE bucket = ? AND key >= ? AND modified < ? ORDER BY key'),
    upsertObject: db.prepare(
      'INSERT OR REPLACE INTO objects (bucket, key, size, etag, modified, metadata, segments, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    deleteObject: db.prepare('DELETE FROM objects WHERE bucket = ? AND key = ?'),
    tags: db.prepare('SELECT tagging FROM objects WHERE bucket = ? AND key = ?'),
    setTags: db.prepare('UPDATE objects SET tagging = ? WHERE bucket = ? AND key = ?'),
    upload: db.prepare('SELECT * FROM uploads WHERE id = ?'),
    uploads: db.prepare('SELECT id, key, started FROM uploads WHERE bucket = ? ORDER BY key, started, id'),
    insertUpload: db.prepare(
      'INSERT INTO uploads (id, bucket, key, metadata, started, checksum) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    deleteUpload: db.prepare('DELETE FROM uploads WHERE id = ?'),
    part: db.prepare('SELECT * FROM parts WHERE upload = ? AND number = ?'),
    parts: db.prepare('SELECT * FROM parts WHERE upload = ? ORDER BY number'),
    upsertPart: db.prepare(
      'INSERT OR REPLACE INTO parts (upload, number, size, md5, file, checksum) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    allSegments: db.prepare('SELECT segments FROM objects'),
    allParts: db.prepare('SELECT file FROM parts'),
  };
}

function toUpload(row: Record<string, unknown>): IncompleteUpload {
  return { key: String(row.key), id: String(row.id), started: Number(row.started) };
}

function toRow(row: Record<string, unknown>): Row {
  return {
    bucket: String(row.bucket),
    key: String(row.key),
    size: Number(row.size),
    etag: String(row.etag),
    modified: Number(row.modified),
    metadata: JSON.parse(String(row.metadata)),
    segments: JSON.parse(String(row.segments)),
    checksum: readJson(row.checksum),
  };
}

function writeJson(value: object | undefined): string | null {
  return value ? JSON.stringify(value) : null;
}

function readJson<Value>(text: unknown): Value | undefined {
  return typeof text === 'string' ? JSON.parse(text) : undefined;
}

function missingChecksum({ algorithm }: UploadChecksum, number: number): S3Error {
  return invalidRequest(
    `The upload was created using a ${algorithm.toLowerCase()} checksum. The complete request must include the checksum for each part. It was missing for part ${number} in the request.`,
  );
}

interface Piece {
  file: string;
  start: number;
  end: number;
}

function slice(segments: Segment[], start: number, end: number): Piece[] {
  const pieces: Piece[] = [];
  let offset = 0;
  for (const { file, size } of segments) {
    const from = Math.max(0, start - offset);
    const to = Math.min(size - 1, end - offset);
    if (size > 0 && from <= to) pieces.push({ file, start: from, end: to });
    offset += size;
  }
  return pieces;
}

async function* readAll(pieces: { path: string; start: number; end: number }[]): AsyncGenerator<Buffer> {
  for (const { path, start, end } of pieces) yield* createReadStream(path, { start, end, highWaterMark });
}
