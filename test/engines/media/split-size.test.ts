import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { leaveToBreadth } from '../../support/breadth.ts';
import { facts } from './compare.ts';
import { ffmpeg } from './samples.ts';
import { similarities } from './similarities.ts';
import { splitRun } from './split-run.ts';
import { run, testFolder } from './work.ts';

vi.setConfig({ testTimeout: 900_000, hookTimeout: 120_000 });

const rate = 25;
/** Pictures before and after a seam that are compared. */
const around = 10;

let folder: string;
let source: string;
beforeAll(async () => {
  folder = await testFolder();
  source = join(folder, 'scenes.mp4');
  await ffmpeg(
    ...scenes.flatMap((scene) => ['-f', 'lavfi', '-i', scene]),
    ...['-f', 'lavfi', '-i', 'sine=440:sample_rate=48000:duration=30'],
    ...[
      '-filter_complex',
      `${scenes.map((_, at) => `[${at}]trim=duration=6,setpts=PTS-STARTPTS,format=yuv420p[s${at}]`).join(';')};` +
        `${scenes.map((_, at) => `[s${at}]`).join('')}concat=n=${scenes.length}[v]`,
    ],
    ...['-map', '[v]', '-map', `${scenes.length}`, '-c:v', 'libx264', '-preset', 'superfast', '-crf', '14', '-g', '50'],
    ...['-c:a', 'ac3', source],
  );
});

/** From pictures that stand still to those that are hard to encode. */
const scenes = [
  'smptehdbars=size=320x180:rate=25',
  'testsrc2=size=320x180:rate=25',
  'mandelbrot=size=320x180:rate=25:end_scale=0.02',
  'testsrc2=size=320x180:rate=25,noise=alls=12:allf=t',
  'gradients=size=320x180:rate=25:speed=0.02',
];

const encoders = ['libx264', 'libvpx-vp9'];
leaveToBreadth(encoders.slice(1));

describe('A split video has the size of a whole one, and its worst pictures are as good, with', () => {
  test.each(encoders)('%s', async (codec) => {
    const to = codec === 'libvpx-vp9' ? 'webm' : 'mp4';
    const bytes = 1_100_000;
    const options = {
      compress_video: 'by_size',
      video_compress_max_filesize: bytes / 1e6,
      ...(codec === 'libvpx-vp9'
        ? { video_compress_speed: 'fast' }
        : { video_codec_compress: codec, video_compress_speed: 'veryfast' }),
    };
    const whole = await run('compress', { path: source, format: 'mp4' }, to, options);
    const split = await splitRun(
      { operation: 'compress', source: { path: source, format: 'mp4' }, outputFormat: to, options, folder },
      5,
    );

    expect(split.starts.length).toBeGreaterThan(4);
    const { size } = await stat(split.path);
    expect(size).toBeLessThanOrEqual(bytes);
    expect(size).toBeGreaterThan(bytes * 0.95);
    // What the join adds is known before.
    expect(size / split.bytes).toBeLessThan(1.005);
    const [one, other] = [await similarities(whole.path, source), await similarities(split.path, source)];
    expect(other).toHaveLength(30 * rate);
    const seams = split.starts.slice(1).flatMap((start) => {
      const at = Math.round(start * rate);
      return other.slice(at - around, at + around);
    });
    expect(Math.min(...seams)).toBeGreaterThan(Math.min(...one) - 0.005);
    expect(worstOf(other)).toBeGreaterThan(worstOf(one) - 0.01);
    const [wholeFacts, splitFacts] = [await facts(whole.path), await facts(split.path)];
    expect(splitFacts.video).toEqual(wholeFacts.video);
    expect(Math.abs(splitFacts.seconds - wholeFacts.seconds)).toBeLessThan(0.5 / rate);
  });
});

/** Returns the mean of the worst hundredth. */
function worstOf(similarity: number[]): number {
  return mean(similarity.toSorted((one, other) => one - other).slice(0, Math.ceil(similarity.length / 100)));
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
