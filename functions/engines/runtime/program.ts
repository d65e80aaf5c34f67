import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
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
  /** How standard output is decoded: as UTF-8 by default, or to a character for each byte. */
  stdoutEncoding?: 'utf8' | 'latin1';
  onStderrLine?: (line: string) => void;
  /** Called with the ends of two more pipes: one that the program reads as descriptor 3, and one that it writes to as 4. */
  onPipes?: (to: Writable, from: Readable) => void;
  /** Exit codes that count as success. Defaults to 0. */
  successCodes?: number[];
  /** Whether it stays when the task ends, to serve further tasks of the same tenant. Whatever else is running then is killed. */
  warm?: boolean;
}

export interface ProgramResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Enough for any message that a program writes for people. */
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

/** Variables that programs get from the environment, which has the paths of the system and of the sandbox, and no secrets. */
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

/** Returns the processes of the programs that stay between tasks. */
export function warmPrograms(): number[] {
  return [...warm];
}

/** How long the output of a program that has ended is read if its pipes stay open. */
const drainMs = 1_000;

/** Limit for the program output kept: enough for a message, not enough to fill the memory. */
const keptCharacters = 1_000_000;

/**
 * Runs a program to its end. The only way in which engines start programs: no shell, a clean environment, a timeout,
 * and behind the barriers of the sandbox, which ends whatever it leaves behind.
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

/** Starts a program. Its arguments may be secrets of the user, so that no error names them. */
function start(program: string, args: string[], options: ProgramOptions): ChildProcess {
  try {
    return spawn(program, args, {
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
    throw new EngineError('An option has a character that no program takes, such as NUL.');
  }
}

/**
 * Waits until a program has ended and all that it wrote is read. Whatever it started may keep its pipes open for longer, and
 * is not waited for: nothing would ever end it, and the sandbox kills it with the rest of the task.
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
        // What is in the pipes is read before the end of a turn of the event loop, however late the timer is.
        timer = setTimeout(() => setImmediate(stop), drainMs);
      });
  });
}

/** Returns those of the named variables that are set. */
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
