import { tmpdir } from 'node:os';
import type { EngineCheck } from '../runtime/engine.ts';
import { brokenPrograms, missingPackage, whyNotStarted } from '../runtime/find-program.ts';
import { runProgram } from '../runtime/program.ts';
import { ffmpegPath, ffprobePath, soxPath } from './programs.ts';
import { encoders } from './requires.ts';

const run = { cwd: tmpdir(), timeoutMs: 10_000 };

/** Checks the programs, and the encoders that ffmpeg was built with. */
export const check: EngineCheck = async () => {
  const missing = await Promise.all([
    missingPackage('sharp'),
    missingEncoders(),
    brokenPrograms({ ffprobe: { path: ffprobePath(), args: ['-version'] } }),
    missingSpeech(),
  ]);
  return Object.assign({}, ...missing);
};

async function missingEncoders(): Promise<Record<string, string>> {
  try {
    const { stdout } = await runProgram(ffmpegPath(), ['-hide_banner', '-encoders'], run);
    const known = new Set(stdout.split(/\s+/));
    return Object.fromEntries(encoders.filter((encoder) => !known.has(encoder)).map((encoder) => [encoder, '']));
  } catch (error) {
    return { ffmpeg: whyNotStarted(error) };
  }
}

async function missingSpeech(): Promise<Record<string, string>> {
  try {
    const { stdout, stderr } = await runProgram(soxPath(), ['--help'], { ...run, successCodes: [0, 1] });
    return `${stdout}${stderr}`.includes('amr-nb') ? {} : { sox: 'it is built without AMR' };
  } catch (error) {
    return { sox: whyNotStarted(error) };
  }
}
