import { tmpdir } from 'node:os';
import type { EngineCheck } from '../engine.ts';
import { runProgram } from '../program.ts';
import { ffmpegPath, ffprobePath, soxPath } from './programs.ts';

/** Encoders that builds of ffmpeg leave out now and then. */
const encoders = [
  'libx264',
  'libx265',
  'libvpx',
  'libvpx-vp9',
  'libsvtav1',
  'libmp3lame',
  'libopus',
  'libvorbis',
  'libtheora',
  'libspeex',
  'libgsm',
  'libwebp_anim',
];

/** Tries the programs, and whether ffmpeg was built with what the catalogue promises. */
export const check: EngineCheck = async () => {
  const cwd = tmpdir();
  try {
    const [{ stdout }, , sox] = await Promise.all([
      runProgram(ffmpegPath(), ['-hide_banner', '-encoders'], { cwd, timeoutMs: 10_000 }),
      runProgram(ffprobePath(), ['-version'], { cwd, timeoutMs: 10_000 }),
      runProgram(soxPath(), ['--help'], { cwd, timeoutMs: 10_000, successCodes: [0, 1] }),
    ]);
    const words = new Set(stdout.split(/\s+/));
    const missing = encoders.filter((encoder) => !words.has(encoder));
    if (missing.length > 0) return `ffmpeg lacks the encoders ${missing.join(', ')}`;
    return `${sox.stdout}${sox.stderr}`.includes('amr-nb')
      ? undefined
      : 'sox cannot write amr: install libsox-fmt-base';
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return `ffmpeg, ffprobe or sox does not run here: ${reason}`;
  }
};
