import { describe, expect, test } from 'vitest';
import { videoArgs } from '../../../functions/engines/media/codecs.ts';
import type { VideoEncoder } from '../../../functions/engines/media/encoders.ts';
import { mediaFormat } from '../../../functions/engines/media/formats.ts';
import { emptyRequest, type MediaRequest, ofTrack, plan, planInTime } from '../../../functions/engines/media/plan.ts';
import { type Preset, presets } from '../../../functions/engines/media/presets.ts';
import type { Probe, VideoStream } from '../../../functions/engines/media/probe.ts';
import { presetsOf, speedOf } from '../../../functions/engines/media/speeds.ts';
import { choosePreset, estimate, type Load, type TimeLimit } from '../../../functions/engines/media/time-limit.ts';

/** The function of the media engine: fifteen minutes and six cores. */
const lambda: TimeLimit = { cores: 6, max: 890, usual: 445 };
const minute = 60;

function probeOf(seconds: number | undefined, video: Partial<VideoStream> = {}): Probe {
  return {
    seconds,
    video: {
      index: 0,
      codec: 'h264',
      width: 1920,
      height: 1080,
      pixelAspect: 1,
      rotated: false,
      framesPerSecond: 30,
      pixelFormat: 'yuv420p',
      interlaced: false,
      matrix: '',
      highDynamicRange: false,
      ...video,
    },
    audio: [{ index: 1, codec: 'aac', rate: 48_000, channels: 2, bitsPerSample: 0, bitRate: 128_000 }],
    subtitles: [],
    cover: undefined,
  };
}

function planned(seconds: number, to: string, request: Partial<MediaRequest> = {}, limit = lambda) {
  return planInTime(probeOf(seconds), mediaFormat('mp4'), mediaFormat(to), { ...emptyRequest, ...request }, limit);
}

/** Returns the preset of a plan, by the arguments that its encoder takes for it. */
function presetOf(args: string[], encoder: VideoEncoder, to: string): Preset | undefined {
  const command = args.join(' ');
  return presets.find((preset) =>
    command.includes(ofTrack('v:0', videoArgs(encoder, { preset }, mediaFormat(to))).join(' ')),
  );
}

describe('The default preset', () => {
  test.each([
    ['mkv', 'libsvtav1', 30, 'veryfast'],
    ['mkv', 'libsvtav1', 10 * minute, 'ultrafast'],
    ['mp4', 'libx264', 5 * minute, 'veryfast'],
    ['mp4', 'libx264', 25 * minute, 'ultrafast'],
    ['mp4', 'libx265', 30, 'veryfast'],
    ['mp4', 'libx265', 8 * minute, 'ultrafast'],
  ] as const)('of %s with %s is faster for %i seconds of 1080p: %s', (to, encoder, seconds, expected) => {
    const { after, load } = planned(seconds, to, { copies: false, video: { encoder } });

    expect(presetOf(after, encoder, to)).toBe(expected);
    expect(load && estimate(load, expected, lambda.cores)).toBeLessThanOrEqual(lambda.usual);
  });

  test('takes no longer than half of the limit wherever a preset can', () => {
    for (const writer of ['libx264', 'libx265', 'libsvtav1', 'libvpx-vp9', 'libvpx'] as const) {
      for (const [width, height] of [
        [320, 240],
        [1280, 720],
        [1920, 1080],
        [3840, 2160],
      ] as const) {
        for (let seconds = 10; seconds < 7200; seconds *= 1.5) {
          const load: Load = {
            seconds,
            pictures: { writer, width, height, frames: seconds * 30 },
            megapixelsRead: (width * height * seconds * 30) / 1_000_000,
            oneCoreSeconds: 0,
          };
          const fitting = presetsOf(writer)
            .filter((preset) => presets.indexOf(preset) <= presets.indexOf('veryfast'))
            .filter((preset) => estimate(load, preset, lambda.cores) <= lambda.usual);
          if (fitting.length === 0) continue;
          expect(choosePreset(load, undefined, lambda, { writers: [], hasOptions: true })).toBe(fitting.at(-1));
        }
      }
    }
  });

  test('never is slower than veryfast, however short the video', () => {
    const { after } = planned(1, 'mp4', { copies: false });

    expect(after).toContain('veryfast');
  });

  test('is for the share that a file has of a task with several', () => {
    const alone = planned(10 * minute, 'mp4', { copies: false });
    const oneOfTen = planned(10 * minute, 'mp4', { copies: false }, { ...lambda, usual: lambda.usual / 10 });

    expect(presetOf(alone.after, 'libx264', 'mp4')).toBe('veryfast');
    expect(presetOf(oneOfTen.after, 'libx264', 'mp4')).toBe('ultrafast');
  });

  test('uses the counted frames if the file does not declare its duration', () => {
    const from = mediaFormat('h264');
    const request = { ...emptyRequest, video: { encoder: 'libx265' as const } };
    const long = planInTime(probeOf(undefined), from, mediaFormat('mp4'), request, lambda, 8 * minute);
    const unknown = planInTime(probeOf(undefined), from, mediaFormat('mp4'), request, lambda);

    expect(presetOf(long.after, 'libx265', 'mp4')).toBe('ultrafast');
    expect(presetOf(unknown.after, 'libx265', 'mp4')).toBe('veryfast');
  });

  test('of VP9 is its fastest, however short the video, unless it is to have a size', () => {
    const load: Load = {
      seconds: 10,
      pictures: { writer: 'libvpx-vp9', width: 1920, height: 1080, frames: 300 },
      megapixelsRead: 622,
      oneCoreSeconds: 0,
    };
    const choices = { writers: [], hasOptions: true };

    expect(choosePreset(load, undefined, lambda, choices)).toBe('veryfast');
    expect(presetsOf('libvpx-vp9')[0]).toBe('veryfast');
    expect(choosePreset(load, undefined, lambda, { ...choices, slowest: 'fast' })).toBe('fast');
    expect(choosePreset(load, undefined, { ...lambda, usual: 30 }, { ...choices, slowest: 'fast' })).toBe('faster');
  });
});

test('A video of few bits takes less time, down to half of it', () => {
  const seconds = (bitsPerPixel: number | undefined) =>
    estimate(
      {
        seconds: 60,
        pictures: { writer: 'libx264', width: 1920, height: 1080, frames: 1800, bitsPerPixel },
        megapixelsRead: 0,
        oneCoreSeconds: 0,
      },
      'veryfast',
      6,
    );

  expect(seconds(1)).toBe(seconds(undefined));
  expect(seconds(0.1)).toBeLessThan(seconds(0.3));
  expect(seconds(0.001)).toBeCloseTo(seconds(undefined) / 2);
});

test('The bits of a video count only if its codec is efficient', () => {
  const load = (codec: string) =>
    plan({ ...probeOf(60, { codec }), bitRate: 1_000_000 }, mediaFormat('mkv'), mediaFormat('webm'), emptyRequest).load;

  expect(load('h264')?.pictures?.bitsPerPixel).toBeCloseTo(0.016, 3);
  expect(load('mjpeg')?.pictures?.bitsPerPixel).toBeUndefined();
});

describe('What cannot end in time', () => {
  test('is refused with the estimate, the limit and what would fit', () => {
    expect(() => planned(15 * minute, 'mkv', { video: { encoder: 'libvpx-vp9', preset: 'faster' } })).toThrow(
      /^This would take about \d+ minutes, but the limit is 15 minutes\. To stay within it, choose the preset veryfast, or choose the codec libx264, or choose a resolution of at most 1280 × 720, or trim the file to at most \d+ minutes\.$/,
    );
  });

  test('is advice that holds', () => {
    const message = (seconds: number, request: Partial<MediaRequest>) => {
      try {
        planned(seconds, 'mkv', request);
      } catch (error) {
        return error instanceof Error ? error.message : '';
      }
      return undefined;
    };
    const video = { encoder: 'libvpx-vp9', preset: 'faster' } as const;
    const minutes = Number(/trim the file to at most (\d+) minutes/.exec(message(15 * minute, { video }) ?? '')?.[1]);

    expect(message(minutes * minute, { video })).toBeUndefined();
    expect(message(15 * minute, { video: { ...video, preset: 'ultrafast' } })).toBeUndefined();
    expect(message(15 * minute, { video: { encoder: 'libx264' } })).toBeUndefined();
    expect(
      message(15 * minute, { video: { encoder: 'libvpx-vp9' }, resize: { width: 1280, height: 720, fit: 'inside' } }),
    ).toBeUndefined();
  });

  test('is refused by default if even the fastest preset takes longer', () => {
    expect(() => planned(3 * 3600, 'webm')).toThrow(/but the limit is 15 minutes/);
  });

  test('names no option if the operation has none', () => {
    expect(() => planned(3 * 3600, 'webm', { isFixed: true })).toThrow(/To stay within it, (?:convert the video|trim)/);
  });

  test('may be the audio, if there are many tracks of it', () => {
    const probe = probeOf(3 * 3600);
    const audio = probe.audio.flatMap((track) =>
      Array.from({ length: 8 }, (_, at) => ({ ...track, index: at + 1, codec: 'wmapro' })),
    );
    const convert = (tracks: number) => () =>
      planInTime(
        { ...probe, audio: audio.slice(0, tracks) },
        mediaFormat('mp4'),
        mediaFormat('mkv'),
        emptyRequest,
        lambda,
      );

    expect(convert(1)).not.toThrow();
    expect(convert(8)).toThrow(
      /^This would take about \d+ minutes, but the limit is 15 minutes\. To stay within it, trim the file to at most \d+ minutes\.$/,
    );
  });
});

test('Copying takes no time that counts', () => {
  const { load, copiesSomething } = planned(11 * 3600, 'mkv');

  expect(copiesSomething).toBe(true);
  expect(load).toBeUndefined();
});

test('Speeds grow from one preset to the next faster one, or at least use more cores', () => {
  for (const writer of ['libx264', 'libx265', 'libsvtav1', 'libvpx-vp9', 'libvpx'] as const) {
    const speeds = presetsOf(writer).map((preset) => speedOf(writer, preset, 1920 * 1080));
    const throughput = speeds.map(([megapixels, cores]) => megapixels * cores);
    for (const [at, faster] of throughput.slice(0, -1).entries()) {
      expect(faster * 1.15).toBeGreaterThanOrEqual(throughput[at + 1] ?? 0);
    }
  }
});
