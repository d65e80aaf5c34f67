import { stat } from 'node:fs/promises';
import { EngineError } from '../runtime/engine.ts';
import { ProgramError } from '../runtime/program.ts';
import type { MediaFormat } from './formats.ts';
import { secondsOfMp3 } from './mp3-frames.ts';
import type { Expected } from './plan.ts';
import { probeFile } from './probe.ts';
import type { MediaRun } from './programs.ts';

/** Reopens an output and throws if it is not what was requested. */
export async function verifyOutput(
  path: string,
  target: MediaFormat,
  expected: Expected,
  run: MediaRun,
): Promise<void> {
  verifyDuration(await openOutput(path, target, expected, run), target, expected);
}

/** Reopens an output, throws if its streams are not as requested, and returns its duration if declared. */
export async function openOutput(
  path: string,
  target: MediaFormat,
  expected: Expected,
  run: MediaRun,
): Promise<number | undefined> {
  if ((await stat(path)).size === 0) throw new EngineError(nothing);
  const counted = target.ext === 'mp3' ? await secondsOfMp3(path) : undefined;
  if (counted) return counted;
  const probe = await probeFile(target, path, run).catch((error: unknown) => {
    if (!(error instanceof ProgramError)) throw error;
    throw new EngineError(nothing, { detail: error.stderr.slice(-1000), cause: error });
  });
  const { video } = probe;
  if (expected.video && !video) throw new EngineError('The file has no video that could be decoded: it is damaged.');
  if (expected.audio && probe.audio.length === 0)
    throw new EngineError('The file has no audio that could be decoded: it is damaged.');
  if (expected.video && video && (video.width !== expected.video.width || video.height !== expected.video.height))
    throw new EngineError(
      `The output is ${video.width} × ${video.height} instead of ${expected.video.width} × ${expected.video.height} pixels.`,
    );
  return probe.seconds;
}

/** Returns whether less was decoded than declared. Containers and codecs round and pad by up to half a second and a tenth. */
export function endsEarly(seconds: number, promised: number): boolean {
  return seconds < promised * 0.9 - 0.5;
}

/** Returns the error for a truncated file. */
export function incomplete(seconds: number, promised: number): string {
  return `The file is damaged or incomplete: only ${seconds.toFixed(1)} of its ${promised.toFixed(1)} seconds could be read.`;
}

/** Throws if an output is much shorter or longer than expected. */
export function verifyDuration(
  seconds: number | undefined,
  target: MediaFormat,
  { seconds: expected, subtitles }: Expected,
): void {
  if (seconds === undefined || expected === undefined || target.bare) return;
  if (endsEarly(seconds, expected)) throw new EngineError(incomplete(seconds, expected));
  if (target.knowsDuration && !subtitles && seconds > expected * 1.1 + 1) {
    throw new EngineError(`The output is ${seconds.toFixed(1)} seconds long instead of ${expected.toFixed(1)}.`);
  }
}

const nothing = 'Nothing in the file could be decoded: it is damaged or incomplete.';
