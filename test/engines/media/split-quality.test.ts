import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { leaveToBreadth } from '../../support/breadth.ts';
import { facts } from './compare.ts';
import { ffmpeg } from './samples.ts';
import { similarities } from './similarities.ts';
import { type SplitResult, splitRun } from './split-run.ts';
import { type Ran, run, testFolder } from './work.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const execute = promisify(execFile);
const rate = 25;
/** Pictures before and after a seam that are compared. */
const around = 10;

let folder: string;
let source: string;
beforeAll(async () => {
  folder = await testFolder();
  source = join(folder, 'source.mp4');
  // Without much detail, the key frame of each chunk would be most of its bytes.
  const pictures = `testsrc2=size=320x180:rate=${rate}:duration=19.32,noise=alls=14:allf=t`;
  await ffmpeg(
    ...['-f', 'lavfi', '-i', pictures, '-f', 'lavfi', '-i', 'sine=440:sample_rate=48000:duration=19.3'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '16', '-g', '50', '-bf', '3', '-pix_fmt', 'yuv420p'],
    ...['-c:a', 'ac3', source],
  );
});

/** Hashes the decoded sound. */
async function soundOf(path: string): Promise<string> {
  const { stdout } = await execute('ffmpeg', ['-v', 'error', '-i', path, '-map', '0:a:0', '-f', 'md5', '-']);
  return stdout;
}

const cases: Record<string, { to: string; options: Record<string, unknown> }> = {
  'H.264': { to: 'mp4', options: { video_codec: 'libx264', video_crf: 26 } },
  'H.265': { to: 'mp4', options: { video_codec: 'libx265', video_crf: 28 } },
  VP9: { to: 'webm', options: { video_codec: 'libvpx-vp9', video_crf: 32 } },
  AV1: { to: 'mkv', options: { video_codec: 'libsvtav1', video_crf: 32 } },
};
const names = Object.keys(cases);
leaveToBreadth(names.slice(1));

describe('A split run is as good as a whole one with', () => {
  test.each(names)('%s', async (name) => {
    const { to, options } = cases[name] ?? { to: '', options: {} };
    const whole: Ran = await run('convert', { path: source, format: 'mp4' }, to, options);
    const split: SplitResult = await splitRun(
      { operation: 'convert', source: { path: source, format: 'mp4' }, outputFormat: to, options, folder },
      5,
    );

    // Every picture is decoded, and none near a seam is worse than the worst of the whole run.
    expect(split.starts).toHaveLength(3);
    const [one, other] = [await similarities(whole.path, source), await similarities(split.path, source)];
    expect(other).toHaveLength(19.32 * rate);
    const worst = Math.min(...one);
    for (const start of split.starts.slice(1)) {
      const at = Math.round(start * rate);
      expect(Math.min(...other.slice(at - around, at + around))).toBeGreaterThan(worst - 0.005);
    }

    const [wholeSize, splitSize] = [(await stat(whole.path)).size, (await stat(split.path)).size];
    expect(Math.abs(splitSize / wholeSize - 1)).toBeLessThan(0.03);
    const [wholeFacts, splitFacts] = [await facts(whole.path), await facts(split.path)];
    expect(Math.abs(splitFacts.seconds - wholeFacts.seconds)).toBeLessThan(0.5 / rate);
    expect(splitFacts.video).toEqual(wholeFacts.video);

    // The sound is that of a whole run, so that no seam can be heard.
    expect(await soundOf(split.path)).toBe(await soundOf(whole.path));
    for (const [part, progress] of Object.entries(split.progress)) {
      expect(progress.at(-1), part).toBe(100);
      expect(
        progress.toSorted((a, b) => a - b),
        part,
      ).toEqual(progress);
    }
  });
});
