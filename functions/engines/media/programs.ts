import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type ProgramResult, runProgram } from '../program.ts';

/** What a run of ffmpeg may use and tell. */
export interface MediaRun {
  folder: string;
  signal: AbortSignal;
  /** Told how many seconds of the output are written so far. */
  onSeconds?: (seconds: number) => void;
}

const probeTimeoutMs = 60_000;

/** Finds ffmpeg: the explicit variable, then the bundled package, then the system's. */
export function ffmpegPath(): string {
  return process.env.LATHE_FFMPEG || bundledFfmpeg() || 'ffmpeg';
}

/** Finds ffprobe: the explicit variable, then the system's; no bundled package has it. */
export function ffprobePath(): string {
  return process.env.LATHE_FFPROBE || 'ffprobe';
}

/** Finds sox, which writes the speech formats that ffmpeg only reads. */
export function soxPath(): string {
  return process.env.LATHE_SOX || 'sox';
}

function bundledFfmpeg(): string | undefined {
  try {
    const path: unknown = createRequire(import.meta.url)('ffmpeg-static');
    // The package installs without its download too, and then names a file that is not there.
    return typeof path === 'string' && existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Runs ffmpeg on arguments that are all ours, and tells its progress. */
export async function runFfmpeg(args: string[], run: MediaRun): Promise<{ result: ProgramResult; seconds: number }> {
  let seconds = 0;
  const result = await runProgram(
    ffmpegPath(),
    ['-hide_banner', '-nostdin', '-nostats', '-v', 'error', '-progress', 'pipe:1', '-y', ...args],
    {
      cwd: run.folder,
      signal: run.signal,
      onStdoutLine: (line) => {
        const match = /^out_time_us=(\d+)$/.exec(line);
        if (!match) return;
        seconds = Number(match[1]) / 1_000_000;
        run.onSeconds?.(seconds);
      },
    },
  );
  return { result, seconds };
}

/** Runs ffprobe and returns its JSON. */
export async function runFfprobe(args: string[], run: MediaRun): Promise<unknown> {
  const { stdout } = await runProgram(
    ffprobePath(),
    ['-hide_banner', '-v', 'error', '-print_format', 'json', '-show_format', '-show_streams', ...args],
    { cwd: run.folder, signal: run.signal, timeoutMs: probeTimeoutMs },
  );
  return JSON.parse(stdout);
}

/** Runs sox on files that are ours. */
export async function runSox(args: string[], run: MediaRun): Promise<ProgramResult> {
  return runProgram(soxPath(), args, { cwd: run.folder, signal: run.signal });
}
