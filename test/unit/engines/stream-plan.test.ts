import { describe, expect, test } from 'vitest';
import { mediaFormat } from '../../../functions/engines/media/formats.ts';
import { captionSegments } from '../../../functions/engines/media/hls/captions.ts';
import { ladderOf } from '../../../functions/engines/media/hls/ladder.ts';
import { trackNames } from '../../../functions/engines/media/hls/languages.ts';
import { streamRequest } from '../../../functions/engines/media/hls/options.ts';
import { planStream } from '../../../functions/engines/media/hls/plan.ts';
import { ratesOf, type Segment } from '../../../functions/engines/media/hls/segments.ts';
import { planSprites } from '../../../functions/engines/media/hls/thumbnails.ts';
import type { Probe, VideoStream } from '../../../functions/engines/media/probe.ts';

const video = (width: number, height: number, more: Partial<VideoStream> = {}): VideoStream => ({
  index: 0,
  codec: 'h264',
  width,
  height,
  pixelAspect: 1,
  rotated: false,
  framesPerSecond: 30,
  pixelFormat: 'yuv420p',
  matrix: 'bt709',
  interlaced: false,
  highDynamicRange: false,
  ...more,
});

describe('The renditions of a ladder', () => {
  const usual = [1080, 720, 480, 360];
  test.each([
    ['1080p', video(1920, 1080), ['1920x1080', '1280x720', '854x480', '640x360']],
    ['4K, which is scaled down', video(3840, 2160), ['1920x1080', '1280x720', '854x480', '640x360']],
    ['a size between two', video(1600, 900), ['1600x900', '1280x720', '854x480', '640x360']],
    ['a size just above one, which it replaces', video(1312, 738), ['1312x738', '854x480', '640x360']],
    ['a size below all', video(320, 180), ['320x180']],
    ['portrait', video(1080, 1920), ['1080x1920', '720x1280', '480x854', '360x640']],
    ['pixels that are not square', video(720, 576, { pixelAspect: 64 / 45 }), ['1024x576', '854x480', '640x360']],
  ])('of %s', (_, source, expected) => {
    const ladder = ladderOf(source, usual, 30, 'libx264');
    expect(ladder.map(({ width, height }) => `${width}x${height}`)).toEqual(expected);
    expect(ladder.map(({ maxRate }) => maxRate)).toEqual(ladder.map(({ maxRate }) => maxRate).sort((a, b) => b - a));
    expect(new Set(ladder.map(({ name }) => name)).size).toBe(ladder.length);
  });

  test('have maximum bit rates that grow with the frame rate and are lower for HEVC', () => {
    const [usualRate, fast, hevc] = [
      ladderOf(video(1920, 1080), [1080], 30, 'libx264'),
      ladderOf(video(1920, 1080), [1080], 60, 'libx264'),
      ladderOf(video(1920, 1080), [1080], 30, 'libx265'),
    ].map(([rendition]) => rendition?.maxRate);
    expect([usualRate, fast, hevc]).toEqual([6_000_000, 8_490_000, 3_600_000]);
  });
});

describe('The estimate of the time', () => {
  const probe = (seconds: number): Probe => ({
    seconds,
    video: video(1920, 1080),
    audio: [],
    subtitles: [],
    cover: undefined,
  });
  const plan = (seconds: number, renditions: string, limit = { cores: 5, max: 900, usual: 450 }) => {
    const request = streamRequest({ renditions, segment_seconds: 6 }, seconds);
    return planStream(probe(seconds), mediaFormat('mp4'), mediaFormat('hls'), request, limit);
  };
  const presetOf = ({ after }: { after: string[] }) => after[after.indexOf('-preset') + 1];

  test('counts every rendition: more of them get a faster preset', () => {
    expect(presetOf(plan(600, '1080'))).toBe('veryfast');
    expect(['superfast', 'ultrafast']).toContain(presetOf(plan(600, '1080,900,720,480,360')));
  });

  test('refuses what would take too long, with advice', () => {
    expect(() => plan(7200, '1080,720,480,360')).toThrow(/would take about \d+ minutes/);
  });

  test('refuses more segments than a ZIP should have', () => {
    const request = streamRequest({ renditions: '1080,720,480,360', segment_seconds: 1 }, 7200);
    expect(() =>
      planStream(probe(7200), mediaFormat('mp4'), mediaFormat('hls'), request, { cores: 5, max: 1e6, usual: 1e6 }),
    ).toThrow('This would make 28,800 segments; the maximum is 20,000.');
  });
});

test('The peak rate is that of runs of half to one and a half target durations', () => {
  const parts = [
    { bytes: 1000, seconds: 6 },
    { bytes: 2000, seconds: 6 },
    // Too short to count alone.
    { bytes: 1000, seconds: 0.1 },
  ];
  expect(ratesOf(parts, 6)).toEqual({ average: Math.ceil(32_000 / 12.1), peak: Math.ceil(24_000 / 6.1) });
});

test('A cue is in each segment in which it is shown, and later ones in the last', () => {
  const segments = [0, 6, 12].map((start): Segment => ({ at: 0, bytes: 0, start, seconds: 6, fragments: [] }));
  const cue = (from: string, to: string, text: string) => `${from} --> ${to}\n${text}\n\n`;
  const text = [
    'WEBVTT\n\n',
    cue('00:05.000', '00:06.000', 'first'),
    cue('00:05.000', '00:13.000', 'all'),
    cue('00:06.000', '00:07.000', 'second'),
    cue('01:00:00.000', '01:00:01.000', 'late'),
  ].join('');
  expect(captionSegments(text, segments).map((part) => part.match(/^[a-z]+$/gm))).toEqual([
    ['first', 'all'],
    ['all', 'second'],
    ['all', 'late'],
  ]);
});

test('Tracks are named by their languages, each differently', () => {
  const languages = ['ger', 'deu', 'eng', undefined, 'x"y', 'fr'];
  expect(
    trackNames(
      'Audio',
      languages.map((language) => ({ language })),
    ),
  ).toEqual([
    { language: 'de', name: 'German' },
    { language: 'de', name: 'German 2' },
    { language: 'en', name: 'English' },
    { language: undefined, name: 'Audio' },
    { language: undefined, name: 'Audio 2' },
    { language: 'fr', name: 'French' },
  ]);
});

test('A long video gets thumbnails further apart, and a short one a small sprite', () => {
  expect(planSprites({ width: 1920, height: 1080 }, 1, 10_000)).toEqual({
    interval: 10,
    thumbnail: { width: 160, height: 90 },
    columns: 10,
    rows: 10,
  });
  expect(planSprites({ width: 640, height: 360 }, 10, 25)).toMatchObject({ interval: 10, columns: 2, rows: 2 });
});
