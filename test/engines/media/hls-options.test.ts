import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { onlyInBreadth } from '../../support/breadth.ts';
import { listen, pictureSimilarity, videoSimilarity } from './compare.ts';
import { ffmpeg } from './samples.ts';
import { joined, master, mediaList, streamOf, textOf } from './streams.ts';
import { run, testFolder } from './work.ts';

const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];

async function make(name: string, ...args: string[]): Promise<string> {
  const path = join(await testFolder(), name);
  await ffmpeg(...args, path);
  return path;
}

const pattern = (size: string, seconds: number, rate = 25) => [
  ...['-f', 'lavfi', '-i', `testsrc=size=${size}:rate=${rate}:duration=${seconds}`],
];
const tone = (seconds: number, hertz = 440) => ['-f', 'lavfi', '-i', `sine=${hertz}:duration=${seconds},volume=4`];

describe('Audio alone', () => {
  test('becomes a variant without pictures', async () => {
    // Prepare
    const path = await make('tone.mp3', ...tone(8));

    // Act
    const stream = await streamOf({ path, format: 'mp3' }, { segment_seconds: 3, audio_bitrate: 64 });

    // Assess
    const { variants } = master(stream);
    expect(variants.map(({ uri, codecs, resolution }) => [uri, codecs, resolution])).toEqual([
      ['audio-1/playlist.m3u8', 'mp4a.40.2', undefined],
    ]);
    expect(variants[0]?.averageBandwidth).toBeLessThan(80_000);
    expect(mediaList(stream, 'audio-1/playlist.m3u8').segments.map(({ duration }) => Math.round(duration))).toEqual([
      3, 3, 2,
    ]);
    expect((await listen(join(stream.folder, 'master.m3u8'))).tone).toBeGreaterThan(0.9);
    expect([...stream.files.keys()].filter((name) => name.startsWith('thumbnails'))).toEqual([]);
  });
});

describe('Options', () => {
  test('trim a file that cannot be sought exactly, leave out thumbnails, and keep 5.1', async () => {
    // Prepare
    const sounds = ['-f', 'lavfi', '-i', 'anoisesrc=d=4,pan=5.1|c0=c0|c1=c0|c2=c0|c3=c0|c4=c0|c5=c0'];
    const path = await make(
      'film.avi',
      ...pattern('320x240', 4),
      ...sounds,
      '-c:v',
      'mpeg4',
      '-q:v',
      '2',
      '-c:a',
      'ac3',
    );
    const options = { trim_start: '1.4', trim_end: '3.4', thumbnail_seconds: 0, channels: 6, renditions: '240' };

    // Act
    const stream = await streamOf({ path, format: 'avi' }, options);

    // Assess
    const [segment] = mediaList(stream, '240p/playlist.m3u8').segments;
    expect(segment?.duration).toBeCloseTo(2, 1);
    expect(master(stream).variants[0]?.audio[0]?.channels).toBe('6');
    expect([...stream.files.keys()].filter((name) => name.startsWith('thumbnails'))).toEqual([]);
    const video = await joined(stream, '240p', ['init.mp4', '00001.m4s']);
    const frames = await Promise.all(
      [
        ['first.png', '-i', video],
        ['wanted.png', '-ss', '1.4', '-i', path],
      ].map(([name = '', ...input]) => make(name, ...input, '-frames:v', '1')),
    );
    expect(await pictureSimilarity(frames[0] ?? '', frames[1] ?? '')).toBeGreaterThan(0.97);
  });

  test('measure portrait videos by their width, also if a phone stored them rotated', async () => {
    // Prepare
    const landscape = await make('landscape.mp4', ...pattern('320x240', 1), ...x264);
    const path = await make('portrait.mp4', '-i', landscape, '-c', 'copy', '-metadata:s:v:0', 'rotate=90');

    // Act
    const stream = await streamOf({ path, format: 'mp4' }, { renditions: '1080,120' });

    // Assess
    expect(
      master(stream)
        .variants.filter(({ isIFrameOnly }) => !isIFrameOnly)
        .map(({ resolution }) => resolution),
    ).toEqual([
      { width: 240, height: 320 },
      { width: 120, height: 160 },
    ]);
    expect(await videoSimilarity(join(stream.folder, '120p/playlist.m3u8'), path)).toBeGreaterThan(0.8);
  });

  test('refuse renditions of impossible heights', async () => {
    const path = await make('small.mp4', ...pattern('64x64', 1), ...x264);
    await expect(run('convert', { path, format: 'mp4' }, 'hls', { renditions: '720,20' })).rejects.toThrow(
      'Expected heights from 64 to 4320 for renditions but received 20.',
    );
    await expect(run('convert', { path, format: 'mp4' }, 'hls', { renditions: '720p' })).rejects.toThrow('renditions');
  });

  test('encode HEVC, whose name has its profile and level', onlyInBreadth, async () => {
    const path = await make('film.mp4', ...pattern('320x240', 5), ...x264);
    const stream = await streamOf(
      { path, format: 'mp4' },
      { video_codec: 'libx265', renditions: '240', segment_seconds: 2 },
    );
    expect(master(stream).variants[0]?.codecs).toMatch(/^hvc1\.1\.6\.L\d+(?:\.[0-9A-F]+)+$/);
    expect(mediaList(stream, '240p/playlist.m3u8').segments.map(({ duration }) => duration)).toEqual([2, 2, 1]);
    expect(await videoSimilarity(join(stream.folder, 'master.m3u8'), path)).toBeGreaterThan(0.9);
  });
});

describe('Sources', () => {
  test('with subtitles lose them on request only', async () => {
    const path = await make('film.mkv', ...pattern('320x240', 1), ...x264);
    const captions = join(await testFolder(), 'captions.srt');
    await writeFile(captions, '1\n00:00:00,100 --> 00:00:00,900\nText\n');
    const both = await make('both.mkv', ...['-i', path, '-i', captions, '-c:v', 'copy', '-c:s', 'srt']);
    const texts = await streamOf({ path: both, format: 'mkv' }, { renditions: '240' });
    expect(texts.warnings).toEqual([]);
    const none = await streamOf({ path: both, format: 'mkv' }, { renditions: '240', subtitles_mode: 'none' });
    expect(textOf(none, 'master.m3u8')).not.toContain('SUBTITLES');
  });

  test('with pictures that start late keep them in step with the sound', async () => {
    // Prepare
    const path = await make(
      'late.mkv',
      ...['-itsoffset', '1', ...pattern('320x240', 3), ...tone(4), '-map', '0', '-map', '1', ...x264, '-c:a', 'flac'],
    );

    // Act
    const stream = await streamOf({ path, format: 'mkv' }, { renditions: '240' });

    // Assess
    const [seconds, heard] = ['240p', 'audio-1'].map((name) =>
      mediaList(stream, `${name}/playlist.m3u8`).segments.reduce((sum, { duration }) => sum + duration, 0),
    );
    expect(seconds).toBeCloseTo(4, 1);
    expect(heard).toBeCloseTo(4, 1);
  });

  test('that are truncated are refused', async () => {
    const whole = await make('whole.mkv', ...pattern('320x240', 10), ...x264);
    const content = await readFile(whole);
    const path = join(await testFolder(), 'cut.mkv');
    await writeFile(path, content.subarray(0, Math.round(content.length / 2)));
    await expect(run('convert', { path, format: 'mkv' }, 'hls')).rejects.toThrow('damaged or incomplete');
  });
});
