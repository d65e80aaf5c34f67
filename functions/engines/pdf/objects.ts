import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { EngineError } from '../runtime/engine.ts';
import { type Programs, runTool } from '../runtime/pdf-file.ts';

/**
 * A value in qpdf's JSON form of a PDF: names start with a slash, references are `7 0 R`, and strings start with `u:` or,
 * if they are bytes, with `b:`.
 */
export type PdfValue = null | boolean | number | string | PdfValue[] | PdfDict;
export interface PdfDict {
  [name: string]: PdfValue | undefined;
}

export interface PdfObject {
  value?: PdfValue;
  /** Its data is in base64 or in a file. Without either, it stays as it is. */
  stream?: { dict: PdfDict; data?: string; datafile?: string };
}

interface Reading {
  /** A file with the password. */
  passwordFile?: string;
  /** Whether the encoded data of streams is read too, into memory or into files next to the PDF. */
  withData?: boolean | 'files';
}

/** More would not fit into memory with what is made of it. */
const maxJsonBytes = 200_000_000;
const referenceForm = /^\d+ \d+ R$/;

/**
 * The objects of a PDF without the data of its streams. Changes are kept apart, so that several files can be made of one
 * reading. qpdf leaves out what a change makes unreachable.
 */
export class PdfObjects {
  readonly path: string;
  readonly #objects: Map<string, PdfObject>;
  readonly #changes = new Map<string, PdfObject>();
  #maxId: number;
  /** Whether qpdf had to guess what the file means. */
  readonly isDamaged: boolean;

  private constructor(path: string, objects: Map<string, PdfObject>, maxId: number, isDamaged: boolean) {
    this.path = path;
    this.#objects = objects;
    this.#maxId = maxId;
    this.isDamaged = isDamaged;
  }

  static async read(path: string, space: Programs, reading?: Reading): Promise<PdfObjects> {
    const { objects, maxId, isDamaged } = await readJson(path, space, reading);
    return new PdfObjects(path, objects, maxId, isDamaged);
  }

  /** Adds the objects of another PDF, and returns its pages. They are part of the file once something refers to them. */
  async graft(path: string, space: Programs): Promise<string[]> {
    const { objects, maxId } = await readJson(path, space, { withData: true });
    const first = this.#maxId;
    const moved = (value: PdfValue): PdfValue => {
      if (isReference(value)) return value.replace(/^\d+/, (id) => String(Number(id) + first));
      if (Array.isArray(value)) return value.map(moved);
      if (!isDict(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, moved(each ?? null)]));
    };
    const movedDict = (dict: PdfDict): PdfDict =>
      Object.fromEntries(Object.entries(dict).map(([name, each]) => [name, moved(each ?? null)]));
    for (const [key, { value, stream }] of objects) {
      if (!key.startsWith('obj:')) continue;
      this.#changes.set(
        `obj:${moved(key.slice(4))}`,
        stream ? { stream: { ...stream, dict: movedDict(stream.dict) } } : { value: moved(value ?? null) },
      );
    }
    this.#maxId += maxId;
    const trailer = objects.get('trailer')?.value;
    const root = isDict(trailer) ? this.dict(moved(trailer['/Root'] ?? null)) : undefined;
    return this.array(this.dict(root?.['/Pages'])?.['/Kids']).filter(isReference);
  }

  /** Returns the same objects without the changes made since they were read, or with those so far. */
  fresh({ withChanges = false } = {}): PdfObjects {
    const fresh = new PdfObjects(this.path, this.#objects, this.#maxId, this.isDamaged);
    if (withChanges) for (const [key, object] of this.#changes) fresh.#changes.set(key, object);
    return fresh;
  }

  /** Returns the objects that were changed or added, by reference. */
  get changes(): [reference: string, object: PdfObject][] {
    return [...this.#changes].map(([key, object]) => [key.replace(/^obj:/, ''), object]);
  }

  /** Returns the references of all objects. */
  get references(): string[] {
    const keys = new Set([...this.#objects.keys(), ...this.#changes.keys()]);
    return [...keys].filter((key) => key.startsWith('obj:')).map((key) => key.slice('obj:'.length));
  }

  isStream(reference: string): boolean {
    return this.#find(reference)?.stream !== undefined;
  }

  /** Copies an object of another PDF, which was read with its data, and everything that it refers to. */
  copyFrom(source: PdfObjects, reference: string): string {
    const copies = new Map<string, string>();
    const copy = (from: string): string => {
      const known = copies.get(from);
      if (known !== undefined) return known;
      const to = this.add(null);
      copies.set(from, to);
      const { value = null, stream } = source.#find(from) ?? {};
      // If only the dictionary of a stream was changed, the data is that of the original.
      const data = (stream?.data ?? stream?.datafile) ? {} : source.#objects.get(`obj:${from}`)?.stream;
      const made = stream ? { stream: { ...data, ...stream, dict: entries(stream.dict) } } : { value: mapped(value) };
      this.#changes.set(`obj:${to}`, made);
      return to;
    };
    const entries = (dict: PdfDict): PdfDict =>
      Object.fromEntries(Object.entries(dict).map(([name, value]) => [name, mapped(value ?? null)]));
    const mapped = (value: PdfValue): PdfValue =>
      isReference(value)
        ? copy(value)
        : Array.isArray(value)
          ? value.map(mapped)
          : isDict(value)
            ? entries(value)
            : value;
    return copy(reference);
  }

  #find(reference: string): PdfObject | undefined {
    const key = `obj:${reference}`;
    return this.#changes.get(key) ?? this.#objects.get(key);
  }

  /** Returns the value that a reference leads to, or the value itself. That of a stream is its dictionary. */
  lookup(value: PdfValue | undefined): PdfValue {
    if (!isReference(value)) return value ?? null;
    const found = this.#find(value);
    return found?.stream?.dict ?? found?.value ?? null;
  }

  /** Returns the data of a stream, which must have been read. */
  stream(reference: string): Buffer {
    const key = `obj:${reference}`;
    for (const { stream } of [this.#changes.get(key), this.#objects.get(key)].filter((each) => each !== undefined)) {
      if (stream?.data !== undefined) return Buffer.from(stream.data, 'base64');
      if (stream?.datafile !== undefined) return readFileSync(stream.datafile);
    }
    throw new Error(`Stream ${reference} was read without its data.`);
  }

  /** Replaces a stream. */
  setStream(reference: string, dict: PdfDict, data: Buffer): void {
    const datafile = `${this.path}-${randomUUID()}`;
    writeFileSync(datafile, data);
    this.#changes.set(`obj:${reference}`, { stream: { dict: without(dict), datafile } });
  }

  addBytes(dict: PdfDict, data: Buffer): string {
    const reference = this.add(null);
    this.setStream(reference, dict, data);
    return reference;
  }

  /** Returns the references of the objects that can be reached from the trailer. */
  reachable(): Set<string> {
    const seen = new Set<string>();
    const pending = this.#referencesOf(this.trailer);
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      pending.push(...this.referencesIn(next));
    }
    return seen;
  }

  dict(value: PdfValue | undefined): PdfDict | undefined {
    const found = this.lookup(value);
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? found : undefined;
  }

  array(value: PdfValue | undefined): PdfValue[] {
    const found = this.lookup(value);
    return Array.isArray(found) ? found : [];
  }

  get trailer(): PdfDict {
    const found = this.#changes.get('trailer') ?? this.#objects.get('trailer');
    const value = found?.value;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  }

  get catalog(): PdfDict {
    return this.dict(this.trailer['/Root']) ?? {};
  }

  /** Returns the references of the pages. qpdf has made their tree flat. */
  get pages(): string[] {
    return this.array(this.dict(this.catalog['/Pages'])?.['/Kids']).filter(isReference);
  }

  /** Changes entries of the trailer. */
  updateTrailer(entries: PdfDict): void {
    this.#changes.set('trailer', { value: without({ ...this.trailer, ...entries }) });
  }

  /** Replaces an object. The data of a stream stays. */
  set(reference: string, value: PdfValue): void {
    const isStream = this.isStream(reference);
    const made = this.#changes.get(`obj:${reference}`)?.stream;
    this.#changes.set(`obj:${reference}`, isStream && isDict(value) ? { stream: { ...made, dict: value } } : { value });
  }

  /** Changes entries of a dictionary, given by reference. An undefined value removes one. */
  update(reference: PdfValue | undefined, entries: PdfDict): void {
    if (isReference(reference)) this.set(reference, without({ ...this.dict(reference), ...entries }));
  }

  /**
   * Returns a copy of a value with changed entries: the reference if it was one, or else the changed dictionary, to be put
   * where it was.
   */
  changed(value: PdfValue | undefined, entries: PdfDict): PdfValue {
    if (!isReference(value)) return without({ ...this.dict(value), ...entries });
    this.update(value, entries);
    return value;
  }

  updateCatalog(entries: PdfDict): void {
    this.update(this.trailer['/Root'], entries);
  }

  add(value: PdfValue): string {
    return this.#append({ value });
  }

  addStream(dict: PdfDict, data: string): string {
    const packed = deflateSync(Buffer.from(data, 'latin1')).toString('base64');
    return this.#append({ stream: { dict: { ...dict, '/Filter': '/FlateDecode' }, data: packed } });
  }

  /** Replaces the data of a stream. */
  replaceData(reference: string, data: Buffer): void {
    const { '/DecodeParms': _, ...dict } = this.dict(reference) ?? {};
    const packed = deflateSync(data).toString('base64');
    this.#changes.set(`obj:${reference}`, { stream: { dict: { ...dict, '/Filter': '/FlateDecode' }, data: packed } });
  }

  /** Adds a stream with the data of a file, which has to exist until the PDF is written. */
  addFile(dict: PdfDict, path: string): string {
    return this.#append({ stream: { dict, datafile: path } });
  }

  #append(object: PdfObject): string {
    const reference = `${++this.#maxId} 0 R`;
    this.#changes.set(`obj:${reference}`, object);
    return reference;
  }

  /** Returns the references in a value, at any depth. */
  referencesIn(reference: string): string[] {
    const found = this.#find(reference);
    return this.#referencesOf(found?.value ?? found?.stream?.dict ?? null);
  }

  #referencesOf(value: PdfValue): string[] {
    const result: string[] = [];
    const pending = [value];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (isReference(next)) result.push(next);
      else if (Array.isArray(next)) for (const each of next) pending.push(each);
      else if (isDict(next)) for (const each of Object.values(next)) pending.push(each ?? null);
    }
    return result;
  }

  /** Returns about how many bytes an object takes in a file. */
  sizeOf(reference: string): number {
    const found = this.#find(reference);
    if (found?.stream) {
      const length = this.lookup(found.stream.dict['/Length']);
      return 80 + (typeof length === 'number' ? length : 0) + JSON.stringify(found.stream.dict).length;
    }
    return 40 + JSON.stringify(found?.value ?? null).length;
  }

  /** Writes the PDF with the changes. */
  async write(output: string, space: Programs): Promise<void> {
    const file = join(space.folder, 'changes.json');
    const header = {
      jsonversion: 2,
      pdfversion: '1.5',
      maxobjectid: this.#maxId,
      pushedinheritedpageresources: false,
      calledgetallpages: false,
    };
    const changes = {
      version: 2,
      parameters: { decodelevel: 'none' },
      qpdf: [header, Object.fromEntries([...this.#packedObjects(), ...this.#changes])],
    };
    await writeFile(file, encodeBytes(JSON.stringify(changes)));
    const args = [this.path, `--update-from-json=${file}`, '--stream-data=preserve', '--warning-exit-0', output];
    await runTool('qpdf', args, space);
    await rm(file);
  }

  /**
   * Returns the objects that may be in object streams. qpdf 11 loses the change of such an object as soon as it reads
   * another one of the same stream, so all of them are written as if they were changed.
   */
  #packedObjects(): [string, PdfObject][] {
    const trailer = this.#objects.get('trailer')?.value;
    const isPacked = isDict(trailer) && (trailer['/Type'] === '/XRef' || trailer['/XRefStm'] !== undefined);
    return isPacked ? [...this.#objects].filter(([key, { stream }]) => key.startsWith('obj:') && !stream) : [];
  }
}

async function readJson(
  path: string,
  space: Programs,
  { passwordFile, withData = false }: Reading = {},
): Promise<{ objects: Map<string, PdfObject>; maxId: number; isDamaged: boolean }> {
  const file = join(space.folder, 'objects.json');
  const args = ['--json=2', '--json-key=qpdf', '--decode-level=none'];
  const data = [`--json-stream-data=${withData === true ? 'inline' : withData === 'files' ? 'file' : 'none'}`];
  if (withData === 'files') data.push(`--json-stream-prefix=${path}-stream`);
  const password = passwordFile === undefined ? [] : [`--password-file=${passwordFile}`];
  const { code } = await runTool('qpdf', [...args, ...data, ...password, path, file], space, [0, 3]);
  if ((await stat(file)).size > maxJsonBytes)
    throw new EngineError('The PDF has too many objects for this operation. Split it with mode pages first.');
  const { qpdf }: { qpdf: [{ maxobjectid: number }, Record<string, PdfObject>] } = JSON.parse(
    decodeBytes(await readFile(file)),
  );
  await rm(file);
  return { objects: new Map(Object.entries(qpdf[1])), maxId: qpdf[0].maxobjectid, isDamaged: code !== 0 };
}

const sequences = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g;

/** Decodes JSON of qpdf, which writes the bytes of names as they are. Those that are not UTF-8 become lone surrogates. */
function decodeBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  return bytes
    .toString('latin1')
    .replace(sequences, (given) =>
      given.length === 1 ? String.fromCharCode(0xdc00 + given.charCodeAt(0)) : Buffer.from(given, 'latin1').toString(),
    );
}

function encodeBytes(json: string): Buffer {
  if (!json.includes('\\udc')) return Buffer.from(json);
  const latin = Buffer.from(json).toString('latin1');
  const restored = latin.replace(/\\\\|\\udc([89a-f][0-9a-f])/g, (given, code) =>
    code === undefined ? given : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return Buffer.from(restored, 'latin1');
}

export function isReference(value: PdfValue | undefined): value is string {
  return typeof value === 'string' && referenceForm.test(value);
}

export function isDict(value: PdfValue | undefined): value is PdfDict {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the text of a string, or undefined for any other value. */
export function textOf(value: PdfValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (value.startsWith('u:')) return value.slice(2);
  return value.startsWith('b:') ? decodeText(Buffer.from(value.slice(2), 'hex')) : undefined;
}

/** Characters from 0x80 in PDFDocEncoding, where it differs from Latin-1. */
const documentCharacters = '•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž';

/** Decodes a text in PDFDocEncoding, or in UTF-8, which some producers write instead. */
function decodeText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  return bytes
    .toString('latin1')
    .replace(/[\x80-\x9e]/g, (given) => documentCharacters[given.charCodeAt(0) - 0x80] ?? given)
    .replaceAll('\xa0', '€');
}

function without(dict: PdfDict): PdfDict {
  return Object.fromEntries(Object.entries(dict).filter(([, value]) => value !== undefined));
}
