import { chmodSync, existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { decodeMissing } from '../../../shared/catalogue/missing.ts';
import { type ProgramResult, runProgram } from '../runtime/program.ts';
import type { TimeLimit } from './time-limit.ts';

/** Context of a run of ffmpeg. */
export interface MediaRun {
  folder: string;
  signal: AbortSignal;
  /** Returns the remaining time for the file. */
  timeLimit(): TimeLimit;
  /** Called with the seconds of output written so far. */
  onSeconds?: (seconds: number) => void;
  /** Called with the number of pictures encoded so far. */
  onPictures?: (count: number) => void;
  /** Sets the warnings about input that is not in the output. Later calls replace them. */
  warn(warnings: string[]): void;
}

const probeTimeoutMs = 60_000;
/** Reading all packets means reading the whole file. */
const listTimeoutMs = 300_000;

/** The folder of Debian's libraries. */
const libraryFolder = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
/** Libraries in which the linker finds a quarter of the symbols of Debian's ffmpeg. */
const firstLibraries = ['libcrypto.so.3', 'libepoxy.so.0', 'libstdc++.so.6', 'libglib-2.0.so.0'].map((name) =>
  join(libraryFolder, name),
);
const haveFirstLibraries = firstLibraries.every((path) => existsSync(path));

/**
 * Returns the environment of Debian's programs, which start a fifth faster with it. The linker looks for each of 43,000 symbols in
 * 214 libraries in turn, so those that have most of them come first. All of them are loaded anyway.
 */
function linking(program: string): Record<string, string> {
  return haveFirstLibraries && program.startsWith('/usr/bin/') ? { LD_PRELOAD: firstLibraries.join(':') } : {};
}

/** Finds ffmpeg: the explicit variable, then the system's, which is kept up to date, then the bundled package's. */
export function ffmpegPath(): string {
  return process.env.LATHE_FFMPEG || onPath('ffmpeg') || bundledFfmpeg() || 'ffmpeg';
}

/** Finds ffprobe in the same order. */
export function ffprobePath(): string {
  return process.env.LATHE_FFPROBE || onPath('ffprobe') || bundledFfprobe() || 'ffprobe';
}

/** Returns whether this machine's ffmpeg has an encoder. */
export function hasEncoder(encoder: string): boolean {
  return !Object.hasOwn(decodeMissing(process.env.LATHE_MISSING).engines.media ?? {}, encoder);
}

/** Finds sox, which writes the speech formats that ffmpeg only reads. */
export function soxPath(): string {
  return process.env.LATHE_SOX || 'sox';
}

function onPath(program: string): string | undefined {
  const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program));
  return paths.find((path) => existsSync(path));
}

function bundledFfprobe(): string | undefined {
  return bundled(() => {
    const { path }: { path: string } = createRequire(import.meta.url)('@ffprobe-installer/ffprobe');
    // The package makes it executable in an install script, which npm runs only if configured to.
    if ((statSync(path).mode & 0o100) === 0) chmodSync(path, 0o755);
    return path;
  });
}

function bundledFfmpeg(): string | undefined {
  const path = bundled((): string => createRequire(import.meta.url)('ffmpeg-static'));
  // The package also installs without its download, and then refers to a missing file.
  return path && existsSync(path) ? path : undefined;
}

function bundled(find: () => string): string | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}

/** Returns a run that reports its progress as a share of the seconds of output, if they are known. */
export function withShare(run: MediaRun, seconds: number | undefined, onShare: (share: number) => void): MediaRun {
  return { ...run, onSeconds: (done) => onShare(seconds ? Math.min(1, done / seconds) : 0) };
}

/** Runs ffmpeg and reports its progress. No argument is from the user. */
export async function runFfmpeg(args: string[], run: MediaRun): Promise<{ result: ProgramResult; seconds: number }> {
  let seconds = 0;
  const program = ffmpegPath();
  const result = await runProgram(
    program,
    ['-hide_banner', '-nostdin', '-nostats', '-v', 'error', '-progress', 'pipe:1', '-y', ...args],
    {
      cwd: run.folder,
      env: linking(program),
      signal: run.signal,
      onStdoutLine: (line) => {
        const [, name, value] = /^(frame|out_time_us)=\s*(\d+)$/.exec(line) ?? [];
        if (name === 'frame') run.onPictures?.(Number(value));
        if (name !== 'out_time_us') return;
        seconds = Number(value) / 1_000_000;
        run.onSeconds?.(seconds);
      },
    },
  );
  return { result, seconds };
}

/** Runs ffprobe and returns its JSON. */
export async function runFfprobe(args: string[], run: MediaRun): Promise<unknown> {
  const program = ffprobePath();
  const { stdout } = await runProgram(
    program,
    ['-hide_banner', '-v', 'error', '-print_format', 'json', '-show_format', '-show_streams', ...args],
    { cwd: run.folder, env: linking(program), signal: run.signal, timeoutMs: probeTimeoutMs },
  );
  return JSON.parse(stdout);
}

/** Runs ffprobe and calls back for each line that it writes in its compact format. */
export async function listByFfprobe(args: string[], run: MediaRun, onLine: (line: string) => void): Promise<void> {
  const program = ffprobePath();
  const options = { cwd: run.folder, env: linking(program), signal: run.signal, timeoutMs: listTimeoutMs };
  const writer = ['-hide_banner', '-v', 'error', '-print_format', 'csv=print_section=0'];
  await runProgram(program, [...writer, ...args], { ...options, onStdoutLine: onLine });
}

/** Runs sox on files that the engine wrote. */
export async function runSox(args: string[], run: MediaRun): Promise<ProgramResult> {
  return runProgram(soxPath(), args, { cwd: run.folder, signal: run.signal });
}
