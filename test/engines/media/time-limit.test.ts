import { copyFile, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { compress } from '../../../functions/engines/media/compress.ts';
import { convert } from '../../../functions/engines/media/convert.ts';
import type { MediaRun } from '../../../functions/engines/media/programs.ts';
import { engine } from '../../../functions/engines/media/run.ts';
import type { TimeLimit } from '../../../functions/engines/media/time-limit.ts';
import { jobOf } from '../../../functions/engines/media/transcode.ts';
import { EngineError, type Work } from '../../../functions/engines/runtime/engine.ts';
import { coresOf } from '../../../shared/catalogue/sizes.ts';
import { processorSeconds } from '../../support/processor-time.ts';
import { quietContext } from '../../support/sandboxed.ts';
import { ffmpeg } from './samples.ts';
import { run, testFolder } from './work.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
/** An hour and a half of 4K, copied from one second of it. */
let huge: { path: string; format: string };

beforeAll(async () => {
  folder = await testFolder();
  const second = join(folder, 'second.mp4');
  huge = { path: join(folder, 'huge.mp4'), format: 'mp4' };
  await ffmpeg(
    ...['-f', 'lavfi', '-i', 'color=gray:size=3840x2160:rate=30:duration=1'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', second],
  );
  await ffmpeg('-stream_loop', '5399', '-i', second, '-c', 'copy', huge.path);
});

async function clip(seconds: number): Promise<string> {
  const path = join(folder, `${seconds}.mkv`);
  await ffmpeg('-f', 'lavfi', '-i', `testsrc=size=64x48:rate=25:duration=${seconds}`, '-c:v', 'ffv1', path);
  return path;
}

/** Prepares a conversion that has so much time. */
async function worked(source: string, to: string, options: Work['options'], limit: TimeLimit) {
  const own = await testFolder();
  await mkdir(join(own, 'in'));
  const path = join(own, 'in', '0');
  await copyFile(source, path);
  const input = { path, name: 'clip.mkv', format: 'mkv', size: (await stat(path)).size };
  const work: Work = { operation: 'convert', inputs: [input], outputFormat: to, options, folder: own };
  const mediaRun: MediaRun = {
    folder: own,
    signal: new AbortController().signal,
    timeLimit: () => limit,
    warn: () => {},
  };
  return { work, job: jobOf(work, 0), mediaRun };
}

describe('The default preset', () => {
  /** Enough for a second of these small pictures, too little for twenty. */
  const limit: TimeLimit = { cores: 1, max: 0.2, usual: 0.05 };

  test('is faster for a longer video, as its own settings show', async () => {
    const coding = async (seconds: number, options: Work['options'] = {}) => {
      const { job, mediaRun } = await worked(await clip(seconds), 'mp4', { video_codec: 'libx264', ...options }, limit);
      const [output] = await convert(job, mediaRun);
      return /cabac=(\d)/.exec(await readFile(output?.path ?? '', 'latin1'))?.[1];
    };

    expect(await coding(1)).toBe('1');
    expect(await coding(20)).toBe('0');
    expect(await coding(20, { preset: 'veryfast' })).toBe('1');
  });

  test('of a compression to a size allows for its attempts, and VP9 still meets the size', async () => {
    const source = join(folder, 'noise.mkv');
    await ffmpeg(
      ...['-f', 'lavfi', '-i', 'testsrc2=size=160x120:rate=25:duration=4,noise=alls=12:allf=t'],
      ...['-c:v', 'ffv1', source],
    );
    const options = { compress_video: 'by_size', video_compress_max_filesize: 0.1 };
    const { job, mediaRun } = await worked(source, 'webm', options, { cores: 6, max: 60, usual: 0.2 });
    const { sizeAfter } = await compress(job, mediaRun);

    expect(sizeAfter).toBeLessThanOrEqual(100_000);
    expect(sizeAfter).toBeGreaterThanOrEqual(95_000);
    // In real time, the encoder has one pass.
    expect((await readdir(mediaRun.folder)).filter((name) => name.startsWith('passes'))).toEqual([]);
  });

  test('of a WebP compresses less thoroughly', async () => {
    const source = await clip(4);
    const sizeWithin = async (usual: number) => {
      const { job, mediaRun } = await worked(source, 'webp', {}, { cores: 6, max: 60, usual });
      const [output] = await convert(job, mediaRun);
      return (await stat(output?.path ?? '')).size;
    };

    expect(await sizeWithin(0.01)).not.toBe(await sizeWithin(30));
  });
});

describe('What would not end in time is refused before it starts', () => {
  const refusal =
    /^This would take about \d+ minutes, but the limit is 15 minutes\. To stay within it, (?:.*, or )?trim the file to at most \d+ (?:seconds|minutes)\.$/;

  test.each([
    ['convert', 'webm', {}],
    ['convert', 'mp4', { preset: 'veryslow' }],
    ['convert', 'gif', { cut_end_gif: 50, gif_fps: 50, video_custom_width_gif: 4096 }],
    ['convert', 'webp', { trim_end: 60, fps: 50, width: 4096 }],
    ['convert', 'png', { fps: 0.05 }],
    ['crop', 'mp4', { width: 3800 }],
    ['trim', 'mp4', { trim_start: 10 }],
    ['compress', 'webm', { compress_video: 'by_size', video_compress_max_filesize: 500 }],
    ['compress', 'mkv', { compress_video: 'by_video_quality', video_codec_compress: 'libx265' }],
  ] as const)('%s to %s with %o', async (operation, to, options) => {
    const started = processorSeconds();
    const error = await run(operation, huge, to, options).then(
      () => undefined,
      (reason: unknown) => reason,
    );

    expect(error).toBeInstanceOf(EngineError);
    expect(error instanceof Error && error.message).toMatch(refusal);
    expect(processorSeconds() - started).toBeLessThan(60);
  });

  test('with the time that is left until the deadline, not with the whole limit', async () => {
    const { work } = await worked(await clip(20), 'mp4', {}, { cores: 1, max: 0, usual: 0 });
    const context = quietContext();

    await expect(engine.run({ ...work, deadline: Date.now() }, context)).rejects.toThrow(/but the limit is 1 second\./);
    expect((await engine.run({ ...work, deadline: Date.now() + 60_000 }, context)).outputs).toHaveLength(1);
  });

  test('Copying the same video into another container takes no such time', async () => {
    const { outputs } = await run('convert', huge, 'mkv');

    expect(outputs).toHaveLength(1);
  });
});

test.for([
  [10_240, 6, 5.79],
  [3_008, 2, 1.7],
  [3_008, 1, 1],
  [10_240, 2, 2],
] as const)('a function of %i MB that sees %i cores has time on %f', ([megabytes, seen, cores]) => {
  expect(coresOf(megabytes, seen)).toBeCloseTo(cores, 2);
});
