import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { EngineError } from './engine.ts';

export interface ProgramOptions {
  /** Working directory; engines pass their task's folder. */
  cwd: string;
  /** Added to the few variables that every program gets. */
  env?: Record<string, string>;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Written to its standard input, which is otherwise empty. */
  input?: string | Uint8Array;
  onStdoutLine?: (line: string) => void;
  /** How standard output is decoded: as UTF-8 by default, or as one character per byte. */
  stdoutEncoding?: 'utf8' | 'latin1';
  onStderrLine?: (line: string) => void;
  /** Called with our ends of two more pipes: the program reads descriptor 3 and writes to descriptor 4. */
  onPipes?: (to: Writable, from: Readable) => void;
  /** Exit codes that count as success. Defaults to 0. */
  successCodes?: number[];
  /** Whether the program has a network in an engine that keeps the others offline. */
  network?: boolean;
  /** Whether the program stays running after the task, for further tasks of the same tenant. All others are killed. */
  warm?: boolean;
}

export interface ProgramResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Enough for any error message of a program. */
const maxLineCharacters = 1_000;

/** A program that failed, with the end of its output. */
export class ProgramError extends Error {
  override name = 'ProgramError';
  readonly code: number | undefined;
  readonly stderr: string;
  readonly stdout: string;
  readonly timedOut: boolean;

  constructor(
    program: string,
    result: { code: number | undefined; signal?: string | null; stdout: string; stderr: string; timedOut: boolean },
  ) {
    const how = result.timedOut ? 'took too long' : `ended with ${result.signal ?? `code ${result.code}`}`;
    super(`${program} ${how}: ${result.stderr.trimEnd().split('\n').at(-1)?.slice(0, maxLineCharacters) ?? ''}`);
    this.code = result.code;
    this.stderr = result.stderr;
    this.stdout = result.stdout;
    this.timedOut = result.timedOut;
  }
}

/** Environment variables that programs inherit. They hold paths of the system and the sandbox, and no secrets. */
export const programVariables = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'LD_LIBRARY_PATH',
  'FONTCONFIG_PATH',
  'FONTCONFIG_FILE',
  'MALLOC_ARENA_MAX',
];

const warm = new Set<number>();

/** Returns the processes of programs that stay running between tasks. */
export function warmPrograms(): number[] {
  return [...warm];
}

/** How long to read the output of an ended program if its pipes stay open. */
const drainMs = 1_000;

/** Limit for stored program output: enough for a message, not enough to fill the memory. */
const keptCharacters = 1_000_000;

/**
 * Runs a program to its end. Engines start programs in no other way: without a shell, with a clean environment and a timeout,
 * and behind the barriers of the sandbox, which kills what a program leaves running.
 */
export async function runProgram(program: string, args: string[], options: ProgramOptions): Promise<ProgramResult> {
  options.signal?.throwIfAborted();
  const child = start(program, args, options);
  const [, , , to, from] = child.stdio;
  if (to && 'write' in to && from && 'read' in from) options.onPipes?.(to, from);
  const { pid } = child;
  if (options.warm && pid !== undefined) {
    warm.add(pid);
    child.once('exit', () => warm.delete(pid));
  }
  let timedOut = false;
  const kill = () => child.kill('SIGKILL');
  const timer =
    options.timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          timedOut = true;
          kill();
        }, options.timeoutMs);
  options.signal?.addEventListener('abort', kill, { once: true });
  const stdout = collect(child.stdout, options.onStdoutLine, options.stdoutEncoding);
  const stderr = collect(child.stderr, options.onStderrLine);
  if (child.stdin) {
    // A program may end without reading all of its input; its exit code shows whether that matters.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input);
  }
  try {
    const [code, signal] = await endOf(child);
    options.signal?.throwIfAborted();
    const result = { stdout: stdout(), stderr: stderr() };
    if (code === null || timedOut || !(options.successCodes ?? [0]).includes(code)) {
      throw new ProgramError(program, { code: code ?? undefined, signal, timedOut, ...result });
    }
    return { code, ...result };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', kill);
  }
}

/** What starts a program that has no network, if there is such a thing. */
let offline: string[] = [];

/** Leaves a network only to programs that are run with one: an engine's browser needs it, and what reads attachments must not. */
export function keepOffline(): void {
  if (process.platform === 'linux')
    offline = ['/usr/bin/perl', fileURLToPath(new URL('sandbox/offline.pl', import.meta.url))];
}

/** Starts a program. Errors do not include its arguments, which may be secrets of the user. */
function start(program: string, args: string[], options: ProgramOptions): ChildProcess {
  try {
    const [command = program, ...rest] = [...(options.network ? [] : offline), program, ...args];
    return spawn(command, rest, {
      cwd: options.cwd,
      env: { ...pickVariables(programVariables), ...options.env },
      stdio: [
        options.input === undefined ? 'ignore' : 'pipe',
        'pipe',
        'pipe',
        ...(options.onPipes ? (['pipe', 'pipe'] as const) : []),
      ],
      shell: false,
    });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_ARG_VALUE')) throw error;
    throw new EngineError('An option contains a character that is not supported, such as NUL.');
  }
}

/**
 * Waits until a program has ended and its output is read. Its child processes may keep the pipes open and are not awaited:
 * the sandbox kills them with the rest of the task.
 */
function endOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    child
      .once('error', (error) => reject(Object.assign(error, { spawnargs: undefined })))
      .once('close', (code, signal) => {
        clearTimeout(timer);
        resolve([code, signal]);
      })
      .once('exit', (code, signal) => {
        const stop = () => {
          for (const stream of child.stdio) stream?.destroy();
          resolve([code, signal]);
        };
        // Output that is already in the pipes is read before the end of this turn, even if the timer is late.
        timer = setTimeout(() => setImmediate(stop), drainMs);
      });
  });
}

/** Returns the named variables that are set. */
export function pickVariables(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function collect(
  stream: Readable | null,
  onLine: ((line: string) => void) | undefined,
  encoding: BufferEncoding = 'utf8',
): () => string {
  let text = '';
  if (!stream) return () => text;
  stream.setEncoding(encoding);
  stream.on('data', (chunk: string) => {
    text = (text + chunk).slice(-keptCharacters);
  });
  if (onLine) createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', onLine);
  return () => text;
}
