import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { withDeadline } from '../../../../shared/concurrency.ts';
import { EngineError } from '../../runtime/engine.ts';
import { isAlive } from '../../runtime/is-alive.ts';
import { activeFonts } from '../../runtime/job-fonts.ts';
import { runProgram } from '../../runtime/program.ts';
import { warmFolder } from '../../runtime/warm-folder.ts';
import { makeProfile } from './office-profile.ts';

/** LibreOffice leaks a little memory with every document, so the process is replaced regularly. */
const maxJobs = 50;
const startMs = 120_000;
/** Less than the engine's own timeout, so that the user gets a reason. */
const jobMs = 240_000;
const folderPrefix = 'lathe-office-';

const programFolders = ['/usr/lib/libreoffice/program', '/usr/lib64/libreoffice/program', '/opt/libreoffice/program'];

/** Debian's Python, for which the package python3-uno is built. */
const python = '/usr/bin/python3';

export type OfficeValue = string | number | boolean | { [name: string]: OfficeValue };
export type OfficeProperties = { [name: string]: OfficeValue };

export interface OfficeRequest {
  input: string;
  /** Media descriptor for loading. The filter is always set, so that no other importer reads the file. */
  load: OfficeProperties;
  /** Files to write, each with its sheet number if the format holds only one sheet. */
  outputs: { path: string; store: OfficeProperties; sheet?: number }[];
  /** Whether the format holds only one sheet. Without a number, the first visible one with content is written. */
  one?: boolean;
  /** Writes stored values of cells, or those with dates and times as in ISO 8601. */
  values?: 'iso' | 'raw';
  /** Sheet name for a file without names, and the decimal places of its columns, counted from 0. */
  table?: { name: string; decimals: [column: number, places: number][] };
  /** Paper in hundredths of a millimetre, and its orientation. */
  page?: { width?: number; height?: number; landscape?: boolean };
  /** For formats without tracked changes: accepts them, sets a missing title, and may turn notes and boxes into text. */
  settle?: { title: string; plain: boolean };
  /** Whether to report an empty import. An importer may skip everything it does not know. */
  weigh?: boolean;
  /** Whether SVGs may be read: only if all of them were found and defused. */
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
  /** Configuration of the fonts that its task brought. */
  fonts: string | undefined;
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
 * Converts with LibreOffice, which stays running between conversions: starting it takes ten times as long as converting a short
 * document. It converts one document at a time, and is replaced after a number of documents and after any error.
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
  // It may still be writing, and a failed load or store may leave an incomplete or locked document. Its folder is deleted with it.
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

/** Returns a running LibreOffice with the fonts of the task that reads SVGs or not as requested, after replacing one that differs. */
async function listenerFor(vectors: boolean): Promise<Listener> {
  current ??= start(vectors);
  try {
    const running = await current;
    if (running.vectors === vectors && running.fonts === activeFonts()) return running;
    await stopOffice();
    current = start(vectors);
    return await current;
  } catch (error) {
    current = undefined;
    throw error;
  }
}

/** Copies the files of a job to LibreOffice's folder, so that no other files are next to them. */
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

/** Returns the folder of the running LibreOffice, for measurements and tests. */
export async function officeWorkFolder(): Promise<string | undefined> {
  return (await current?.catch(() => undefined))?.folder;
}

async function start(vectors: boolean): Promise<Listener> {
  const programs = officeFolder();
  if (!programs) throw new Error('LibreOffice is not installed.');
  await sweepAbandoned();
  const fonts = activeFonts();
  const folder = await mkdtemp(join(warmFolder(), `${folderPrefix}${process.pid}-`));
  await makeProfile({ folder, programs, vectors });
  const script = fileURLToPath(new URL('office.py', import.meta.url));
  const pipe = basename(folder);
  const ending = new AbortController();
  const ready = Promise.withResolvers<true>();
  const ended = runProgram(python, [script, folder, programs, pipe], {
    cwd: folder,
    warm: true,
    signal: ending.signal,
    onStdoutLine: (line) => line === 'ready' && ready.resolve(true),
  }).then(
    () => ready.reject(new Error('LibreOffice ended while it started.')),
    // Not a ProgramError, which would blame the file.
    (error: unknown) => ready.reject(new Error(`LibreOffice did not start: ${error}`, { cause: error })),
  );
  const stop = async () => {
    ending.abort();
    await ended;
    await removeTraces(folder);
  };
  try {
    const started = await withDeadline(ready.promise, startMs);
    if (!started) throw new Error('LibreOffice did not start in time.');
    const socket = connect(join(folder, 'socket'));
    await once(socket, 'connect');
    return {
      folder,
      jobs: 0,
      vectors,
      fonts,
      ask: conversation(socket),
      stop: async () => {
        socket.destroy();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns a function that sends a request and waits for its response. A lost connection counts as a response. */
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

/** Removes the folders of processes that were killed before they could do so. */
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
 * Returns the sockets of a LibreOffice by its folder: the one that we named, and one named after its profile, by which it finds
 * running instances. Their paths are fixed in its code, and a killed process leaves them behind.
 */
export function officePipes(folder: string): string[] {
  const digest = createHash('md5').update(`file://${folder}/profile`, 'utf16le').digest();
  const name = Array.from(digest, (byte) => byte.toString(16)).join('');
  return [basename(folder), `SingleOfficeIPC_${name}`].map(
    (pipe) => `/tmp/OSL_PIPE_${process.getuid?.() ?? 0}_${pipe}`,
  );
}
