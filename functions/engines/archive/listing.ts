import { EngineError, type WorkContext } from '../runtime/engine.ts';
import { ProgramError, runProgram } from '../runtime/program.ts';
import { allowance, maxEntries, maxPathBytes, tooLarge, tooMany } from './limits.ts';
import { decodeName, decodeUtf8, detectNames, type NameReading } from './names.ts';

/** An entry according to the archive's headers. They are not trusted: the unpacked files are inspected again. */
export interface Entry {
  /** Normalized: no `.` segments, no trailing slash. */
  path: string;
  isFolder: boolean;
  isEncrypted: boolean;
  /** Whether its name in the archive is not UTF-8. */
  isRaw: boolean;
}

export interface ListingRequest {
  path: string;
  /** 7-Zip's name of the type. */
  type: string;
  /** Size of the user's file, which determines the maximum size of its contents. */
  archiveBytes: number;
  password: string;
  cwd: string;
}

/**
 * Lists an archive and rejects what must not be unpacked: paths and links that point outside, devices, duplicates, bombs.
 * Decodes names that are not UTF-8 in the given or the detected encoding.
 */
export async function list(
  request: ListingRequest,
  encoding: string,
  context: WorkContext,
): Promise<{ entries: Entry[]; reading: NameReading | undefined }> {
  const entries: Entry[] = [];
  const policy = new ListingPolicy(request.archiveBytes);
  const stop = new AbortController();
  let refusal: unknown;
  let fields = new Map<string, string>();
  let isStarted = false;
  const take = () => {
    const block = fields;
    fields = new Map();
    if (refusal !== undefined || !block.has('Path')) return;
    try {
      const entry = policy.accept(block);
      if (entry) entries.push(entry);
    } catch (error) {
      refusal = error;
      stop.abort();
    }
  };
  try {
    const args = ['l', '-slt', '-sccUTF-8', `-t${request.type}`, `-p${request.password}`, '--', request.path];
    await runProgram('7zz', args, {
      cwd: request.cwd,
      signal: AbortSignal.any([context.signal, stop.signal]),
      stdoutEncoding: 'latin1',
      onStdoutLine: (bytes) => {
        const line = decodeUtf8(Buffer.from(bytes, 'latin1')) ?? bytes;
        if (!isStarted) isStarted = line === '----------';
        else if (line === '') take();
        else {
          const [, key, value] = /^([A-Z][A-Za-z ]*) = ?(.*)$/s.exec(line) ?? [];
          if (key !== undefined && !fields.has(key)) fields.set(key, value ?? '');
          if (key === 'Path' && line === bytes && /[\u0080-\u00ff]/.test(bytes)) fields.set(rawName, '+');
        }
      },
    });
    take();
  } catch (error) {
    if (refusal !== undefined) throw refusal;
    throw explain(error, request.password);
  }
  if (refusal !== undefined) throw refusal;
  if (entries.some(({ isEncrypted }) => isEncrypted) && request.password === '') throw passwordNeeded();
  const reading = readNames(entries, encoding);
  policy.finish(entries);
  return { entries, reading };
}

/** Marks an entry with a name that is not decoded yet: one character per byte. */
const rawName = 'Raw Name';

/** Decodes the names that are not UTF-8, and checks them like the others. */
function readNames(entries: Entry[], encoding: string): NameReading | undefined {
  const raw = entries.filter(({ isRaw }) => isRaw);
  if (raw.length === 0) return undefined;
  const bytes = raw.map(({ path }) => Buffer.from(path, 'latin1'));
  const reading = encoding === 'auto' ? detectNames(bytes) : { encoding, isSure: true };
  for (const [index, entry] of raw.entries()) {
    entry.path = decodeName(reading.encoding, bytes[index] ?? Buffer.alloc(0));
    checkName(entry.path);
  }
  const paths = new Set<string>();
  for (const { path } of entries) {
    if (paths.has(path)) throw twice(path);
    paths.add(path);
  }
  return reading;
}

function twice(path: string): EngineError {
  return new EngineError(`The archive contains ${show(path)} twice. Remove one of them.`);
}

class ListingPolicy {
  readonly #archiveBytes: number;
  readonly #seen = new Set<string>();
  #bytes = 0;

  constructor(archiveBytes: number) {
    this.#archiveBytes = archiveBytes;
  }

  accept(fields: Map<string, string>): Entry | undefined {
    const name = fields.get('Path') ?? '';
    const mode = fields.get('Mode') ?? fields.get('Attributes') ?? '';
    // Attributes are Windows letters, a Unix mode, or both separated by a space.
    const kind = /(?:^|\s)([-dlbcps])[-rwxsStT]{9}/.exec(mode)?.[1] ?? '';
    const isFolder = fields.get('Folder') === '+' || kind === 'd' || /^D/.test(mode);
    checkName(name);
    if ('bcps'.includes(kind) && kind !== '')
      throw new EngineError(
        `The archive contains ${show(name)}, which is a device or pipe, not a file. Remove it and try again.`,
      );
    for (const key of ['Symbolic Link', 'Hard Link']) {
      const target = fields.get(key) ?? '';
      if (target !== '' && leadsOutside(key === 'Hard Link' ? '' : name, target)) throw linkOutside(name);
    }
    const path = normalize(name);
    if (path === '') return undefined;
    if (this.#seen.has(path)) {
      // A folder may be listed twice: it is the same folder.
      if (isFolder) return undefined;
      throw twice(path);
    }
    this.#seen.add(path);
    if (this.#seen.size > maxEntries) throw tooMany();
    this.#bytes += Number(fields.get('Size') ?? 0) || 0;
    if (this.#bytes > allowance(this.#archiveBytes)) throw tooLarge(this.#archiveBytes);
    return { path, isFolder, isEncrypted: fields.get('Encrypted') === '+', isRaw: fields.has(rawName) };
  }

  finish(entries: Entry[]): void {
    const solid = new Set(entries.flatMap(({ path, isFolder }) => (isFolder ? [] : [path])));
    for (const { path } of entries) {
      for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
        if (solid.has(path.slice(0, slash)))
          throw new EngineError(
            `The archive contains ${show(path.slice(0, slash))} both as a file or link and as a folder, so it cannot be unpacked.`,
          );
      }
    }
  }
}

function checkName(name: string): void {
  if (/^[/\\]|^[A-Za-z]:[/\\]/.test(name))
    throw new EngineError(`The archive contains the absolute path ${show(name)}. Paths must be relative.`);
  if (name.split(/[/\\]/).includes('..'))
    throw new EngineError(`The archive contains the path ${show(name)}, which points outside the archive.`);
  if (Buffer.byteLength(name) > maxPathBytes)
    throw new EngineError(`The archive contains a path longer than ${maxPathBytes} bytes: ${show(name)}.`);
}

/** Returns whether the target of a link, relative to the link's folder, is outside the archive. */
export function leadsOutside(link: string, target: string): boolean {
  if (/^[/\\]|^[A-Za-z]:[/\\]/.test(target)) return true;
  let depth = normalize(link).split('/').length - 1;
  for (const segment of target.split(/[/\\]/)) {
    if (segment === '..') depth -= 1;
    else if (segment !== '' && segment !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

/** Returns the error for a link that points outside its archive. */
export function linkOutside(name: string): EngineError {
  return new EngineError(
    `The archive contains the link ${show(name)}, which points outside the archive. Remove it and try again.`,
  );
}

/** Returns the error for a password-protected archive. */
function passwordNeeded(): EngineError {
  return new EngineError('The archive is password-protected. Set the option password.');
}

/** Translates a failure of 7-Zip into an error about the archive. */
export function explain(error: unknown, password: string): unknown {
  if (!(error instanceof ProgramError)) return error;
  const said = `${error.stdout}\n${error.stderr}`;
  const options = { detail: lastLines(said), cause: error };
  if (/Wrong password|Cannot open encrypted archive|Enter password/i.test(said)) {
    return password === ''
      ? passwordNeeded()
      : new EngineError('The option password does not open the archive.', options);
  }
  if (/Unsupported Method/i.test(said))
    return new EngineError('The archive uses a compression method that is not supported.', options);
  if (/No space left|File too large/i.test(said))
    return new EngineError('The archive expands to more than the available disk space.', options);
  return new EngineError('The archive could not be read: it is damaged or incomplete.', options);
}

/** Returns the last lines of a program's output, without progress and empty lines. */
export function lastLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-8)
    .join('\n');
}

/** Normalises a path: no `.` segments, no double slashes. */
function normalize(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
}

/** Quotes a name for a message, shortened. */
export function show(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 97)}…` : name);
}
