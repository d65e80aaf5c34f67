import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { withDeadline } from '../../../../shared/concurrency.ts';
import { EngineError } from '../../runtime/engine.ts';
import { isAlive } from '../../runtime/is-alive.ts';
import { runProgram } from '../../runtime/program.ts';
import { warmFolder } from '../../runtime/warm-folder.ts';
import { makeProfile } from './office-profile.ts';

/** LibreOffice leaks a little with every document; the process is replaced regularly to bound that. */
const maxJobs = 50;
const startMs = 120_000;
/** Less than the engine's own timeout, so that the user gets a reason instead of a lost worker. */
const jobMs = 240_000;
const folderPrefix = 'lathe-office-';

const programFolders = ['/usr/lib/libreoffice/program', '/usr/lib64/libreoffice/program', '/opt/libreoffice/program'];

/** Debian's own, for which its package python3-uno is. */
const python = '/usr/bin/python3';

export type OfficeValue = string | number | boolean | { [name: string]: OfficeValue };
export type OfficeProperties = { [name: string]: OfficeValue };

export interface OfficeRequest {
  input: string;
  /** Media descriptor to load with; the filter is always set, so that no other importer reads the file. */
  load: OfficeProperties;
  /** Files to write, each with the number of its sheet if the format holds only one. */
  outputs: { path: string; store: OfficeProperties; sheet?: number }[];
  /** Whether the format holds only one sheet. Without a number, the first one that shows something is written. */
  one?: boolean;
  /** Has cells show their stored values, or their dates and times as in ISO 8601 as well. */
  values?: 'iso' | 'raw';
  /** Name of the sheet of a file that has no names, and the decimal places of its columns, counted from 0. */
  table?: { name: string; decimals: [column: number, places: number][] };
  /** Paper in hundredths of a millimetre, and its orientation. */
  page?: { width?: number; height?: number; landscape?: boolean };
  /** For formats without tracked changes: accepts them, sets the title if there is none, and may turn notes and boxes into text. */
  settle?: { title: string; plain: boolean };
  /** Whether to report if nothing was imported, as an importer may skip everything it does not know. */
  weigh?: boolean;
  /** Whether SVGs may be read: only in documents in which each was found and defused. */
  vectors?: boolean;
}

export interface Sheet {
  name: string;
  hidden: boolean;
  empty: boolean;
}

export interface OfficeFacts {
  /** Sheets of a spreadsheet. */
  sheets?: Sheet[];
  pages?: number;
  empty?: boolean;
}

type OfficeResponse = ({ ok: true } & OfficeFacts) | { ok: false; kind: string; message: string };

interface Listener {
  folder: string;
  ask(request: OfficeRequest): Promise<OfficeResponse>;
  stop(): Promise<void>;
  jobs: number;
  vectors: boolean;
}

/** LibreOffice could not load a file; it does not report why. */
export class UnreadableDocument extends EngineError {
  override name = 'UnreadableDocument';
}

let current: Promise<Listener> | undefined;

/** Returns the folder of LibreOffice, if it is installed. */
export function officeFolder(): string | undefined {
  return programFolders.find((folder) => existsSync(join(folder, 'soffice.bin')));
}

/** Reports LibreOffice as missing, as an engine's check does, if it or the Python that controls it is not installed. */
export function missingOffice(): Record<string, string> {
  if (process.platform !== 'linux') return { soffice: 'it is supported on Linux only' };
  if (!officeFolder()) return { soffice: '' };
  return existsSync(python) ? {} : { soffice: `${python} does not exist` };
}

/**
 * Converts with LibreOffice, which stays running between conversions: starting it costs ten times as much as a short
 * document does. It converts one document at a time, and is replaced after some tens of them and after any error.
 */
export async function convertWithOffice(request: OfficeRequest, timeoutMs = jobMs): Promise<OfficeFacts> {
  const listener = await listenerFor(request.vectors ?? false);
  listener.jobs += 1;
  const staged = await stage(listener.folder, request);
  const response = await withDeadline(listener.ask(staged.request), timeoutMs);
  if (response?.ok) {
    try {
      await staged.collect();
    } finally {
      await staged.clear();
    }
    if (listener.jobs >= maxJobs) await stopOffice();
    return response;
  }
  // It may still be writing. A failed load may leave half a document behind, a failed store a locked one. Its folder is deleted with it.
  await stopOffice();
  if (response === undefined)
    throw new EngineError(
      `The document takes longer than ${Math.round(timeoutMs / 1000)} seconds to convert. Split or simplify it.`,
    );
  if (response.kind === 'load')
    throw new UnreadableDocument(
      'The file could not be read: it is damaged, incomplete or does not match its extension.',
      { detail: response.message },
    );
  if (response.kind === 'protected')
    throw new EngineError(
      `The sheet ${JSON.stringify(response.message)} is protected with a password, so that its cells can only be written as shown.`,
    );
  const msg =
    response.kind === 'crashed' || response.kind === 'gone'
      ? 'The converter crashed on this file: it is damaged or uses an unsupported feature.'
      : 'The document was read but could not be written in the output format.';
  throw new EngineError(msg, { detail: response.message });
}

/** Returns the running LibreOffice, after replacing one that reads SVGs where none may be read, or the reverse. */
async function listenerFor(vectors: boolean): Promise<Listener> {
  current ??= start(vectors);
  try {
    const running = await current;
    if (running.vectors === vectors) return running;
    await stopOffice();
    current = start(vectors);
    return await current;
  } catch (error) {
    current = undefined;
    throw error;
  }
}

/** Copies the files of a job to LibreOffice's folder, so that nothing it is not given lies beside them. */
async function stage(folder: string, request: OfficeRequest) {
  const job = join(folder, 'job');
  await rm(job, { recursive: true, force: true });
  await mkdir(job);
  const input = join(job, 'input');
  await copyFile(request.input, input);
  const outputs = request.outputs.map((output, index) => ({ ...output, path: join(job, `output-${index}`) }));
  return {
    request: { ...request, input, outputs },
    collect: async () => {
      for (const [index, { path }] of request.outputs.entries())
        await copyFile(join(job, `output-${index}`), path).catch(() => {
          throw new EngineError('The document was read but produced no output file.');
        });
    },
    clear: () => rm(job, { recursive: true, force: true }),
  };
}

/** Starts LibreOffice ahead of the first document. */
export function warmOffice(): void {
  current ??= start(false);
  // The first conversion reports a failed start.
  current.catch(() => {});
}

/** Stops LibreOffice, if it is running, and deletes its files. */
export async function stopOffice(): Promise<void> {
  const stopping = current;
  current = undefined;
  const listener = await stopping?.catch(() => undefined);
  await listener?.stop();
}

/** Returns the folder of the running LibreOffice, for measuring and for tests of what is left in it. */
export async function officeWorkFolder(): Promise<string | undefined> {
  return (await current?.catch(() => undefined))?.folder;
}

async function start(vectors: boolean): Promise<Listener> {
  const programs = officeFolder();
  if (!programs) throw new Error('LibreOffice is not installed.');
  await sweepAbandoned();
  const folder = await mkdtemp(join(warmFolder(), `${folderPrefix}${process.pid}-`));
  await makeProfile({ folder, programs, vectors });
  const script = fileURLToPath(new URL('office.py', import.meta.url));
  const pipe = basename(folder);
  const ending = new AbortController();
  const ready = Promise.withResolvers<void>();
  const ended = runProgram(python, [script, folder, programs, pipe], {
    cwd: folder,
    warm: true,
    signal: ending.signal,
    onStdoutLine: (line) => line === 'ready' && ready.resolve(),
  }).then(
    () => ready.reject(new Error('LibreOffice ended while it started.')),
    // Not as the failure of a program on a file, which it has not been given.
    (error: unknown) => ready.reject(new Error(`LibreOffice did not start: ${error}`, { cause: error })),
  );
  const stop = async () => {
    ending.abort();
    await ended;
    await removeTraces(folder);
  };
  const timer = setTimeout(() => ready.reject(new Error('LibreOffice did not start in time.')), startMs);
  try {
    await ready.promise;
    const socket = await open(join(folder, 'socket'));
    const ask = conversation(socket);
    return {
      folder,
      jobs: 0,
      vectors,
      ask,
      stop: async () => {
        socket.destroy();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function open(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket)).once('error', reject);
  });
}

/** Returns a function that sends one request and waits for its response; a lost connection counts as one. */
function conversation(socket: Socket): (request: OfficeRequest) => Promise<OfficeResponse> {
  let waiting: ((response: OfficeResponse) => void) | undefined;
  let gone = false;
  const settle = (response: OfficeResponse) => {
    waiting?.(response);
    waiting = undefined;
  };
  createInterface({ input: socket }).on('line', (line) => settle(JSON.parse(line)));
  socket.on('error', () => {});
  socket.on('close', () => {
    gone = true;
    settle({ ok: false, kind: 'gone', message: 'LibreOffice ended during the conversion.' });
  });
  // An idle listener must not keep the process alive.
  socket.unref();
  return (request) =>
    new Promise((resolve) => {
      if (gone) resolve({ ok: false, kind: 'gone', message: 'LibreOffice had ended before the conversion.' });
      waiting = resolve;
      socket.ref();
      socket.write(`${JSON.stringify(request)}\n`);
    });
}

/** Removes the folders of processes that were killed before they could. */
async function sweepAbandoned(): Promise<void> {
  for (const name of await readdir(warmFolder())) {
    const pid = new RegExp(`^${folderPrefix}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || pid === String(process.pid) || isAlive(Number(pid))) continue;
    await removeTraces(join(warmFolder(), name));
  }
}

async function removeTraces(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  for (const pipe of officePipes(folder)) await rm(pipe, { force: true });
}

/**
 * Names the sockets of the LibreOffice of a folder: the one we gave a name, and one by which it finds itself again,
 * named for its profile. Where they are is fixed in its code, and a process that is killed leaves them.
 */
export function officePipes(folder: string): string[] {
  const digest = createHash('md5').update(`file://${folder}/profile`, 'utf16le').digest();
  const name = Array.from(digest, (byte) => byte.toString(16)).join('');
  return [basename(folder), `SingleOfficeIPC_${name}`].map(
    (pipe) => `/tmp/OSL_PIPE_${process.getuid?.() ?? 0}_${pipe}`,
  );
}
