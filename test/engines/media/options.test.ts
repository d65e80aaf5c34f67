import { execFile } from 'node:child_process';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { checkOptions } from '../../../shared/catalogue/options.ts';
import { leaveToBreadth } from '../../support/breadth.ts';
import { facts, listen, pictureSimilarity, videoSimilarity } from './compare.ts';
import { ffmpeg } from './samples.ts';
import { media, run, testFolder } from './work.ts';

leaveToBreadth([
  'mkv with video_codec libvpx-vp9 holds vp9',
  'webm with video_codec libvpx holds vp8',
  'avi with video_codec libx264 holds h264',
  'mpg with video_codec mpeg1video holds mpeg1video',
  '{ width: 640, height: 100 } gives a picture of 134 × 100',
  '{ width: 1000 } gives a picture of 320 × 240',
  "{ width: 640, fit: 'scale' } gives a picture of 640 × 480",
  '{ width: 101, height: 101, …(1) } gives a picture of 102 × 102',
  'mkv with audio_codec libopus holds opus',
  'mkv with audio_codec flac holds flac',
  'ogg with audio_codec libopus holds opus',
  'mkv meets a size in megabytes',
  'mov meets a size in megabytes',
  'm4a meets a size in megabytes',
  'ogg meets a size in megabytes',
  'by_resolution with { …(2) } gives 160 × 120',
  'by_resolution with { …(2) } gives 80 × 60',
]);

const execute = promisify(execFile);
// Each test runs programs, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
/** Four seconds: 320x240 at 25 frames a second, H.264 with a key frame each second, AAC in stereo. */
let video: { path: string; format: string };
/** The first of them, for what is seen in any frame. */
let brief: { path: string; format: string };
/** Two seconds of the like, as small as the tests of compression allow. */
let small: { path: string; format: string };
/** Six seconds of noise under a tone: nothing that a codec could leave out. */
let sound: { path: string; format: string };

beforeAll(async () => {
  folder = await testFolder();
  video = { path: join(folder, 'video.mp4'), format: 'mp4' };
  brief = { path: join(folder, 'brief.mp4'), format: 'mp4' };
  small = { path: join(folder, 'small.mp4'), format: 'mp4' };
  sound = { path: join(folder, 'sound.wav'), format: 'wav' };
  await ffmpeg(
    ...['-f', 'lavfi', '-i', 'testsrc2=size=320x240:rate=25:duration=4,noise=alls=12:allf=t'],
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=44100:duration=4,volume=2'],
    ...[
      '-c:v',
      'libx264',
      '-preset',
      'veryfast',
      '-crf',
      '20',
      '-g',
      '25',
      '-pix_fmt',
      'yuv420p',
      '-c:a',
      'aac',
      '-ac',
      '2',
      video.path,
    ],
  );
  await ffmpeg(
    ...['-i', video.path, '-t', '2', '-vf', 'scale=160:120', '-c:v', 'libx264', '-preset', 'veryfast', '-crf', '12'],
    ...['-c:a', 'copy', small.path],
    ...['-t', '1', '-c', 'copy', brief.path],
  );
  await ffmpeg(
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=44100:duration=6'],
    ...['-f', 'lavfi', '-i', 'anoisesrc=color=pink:amplitude=0.3:sample_rate=44100:duration=6'],
    ...['-filter_complex', '[0][1]amix=2,pan=stereo|c0=c0|c1=c0', sound.path],
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const convert = (to: string, options: Record<string, unknown> = {}) => run('convert', video, to, options);

async function frameAt(path: string, seconds: number): Promise<Buffer> {
  const args = [
    '-v',
    'error',
    '-nostdin',
    '-ss',
    String(seconds),
    '-i',
    path,
    '-frames:v',
    '1',
    '-c:v',
    'png',
    '-f',
    'image2pipe',
    '-',
  ];
  return (await execute('ffmpeg', args, { encoding: 'buffer', maxBuffer: 2 ** 26 })).stdout;
}

async function frames(path: string): Promise<number> {
  const args = [
    '-v',
    'error',
    '-select_streams',
    'v:0',
    '-count_frames',
    '-show_entries',
    'stream=nb_read_frames',
    '-of',
    'csv=p=0',
    path,
  ];
  return Number.parseInt((await execute('ffprobe', args)).stdout, 10);
}

describe('Pictures of a conversion', () => {
  test('Streams that fit are copied bit by bit', async () => {
    const { path } = await convert('mkv');

    const hash = async (file: string) =>
      (
        await execute('ffmpeg', [
          '-v',
          'error',
          '-i',
          file,
          '-map',
          '0:v',
          '-c',
          'copy',
          '-bsf:v',
          'h264_mp4toannexb',
          '-f',
          'md5',
          '-',
        ])
      ).stdout;
    expect(await hash(path)).toBe(await hash(video.path));
  });

  test.each([
    ['mp4', 'libx265', 'hevc'],
    ['mp4', 'libsvtav1', 'av1'],
    ['mkv', 'libvpx-vp9', 'vp9'],
    ['webm', 'libvpx', 'vp8'],
    ['mov', 'prores_ks', 'prores'],
    ['avi', 'libx264', 'h264'],
    ['mpg', 'mpeg1video', 'mpeg1video'],
  ])('%s with video_codec %s holds %s', async (to, codec, expected) => {
    const { path } = await convert(to, { video_codec: codec, trim_end: 0.2 });

    expect((await facts(path)).video?.codec).toBe(expected);
  });

  test('A higher video_crf makes a smaller file', async () => {
    const [fine, coarse] = await Promise.all([
      convert('mp4', { video_crf: 18, audio_codec: 'none', trim_end: 1 }),
      convert('mp4', { video_crf: 38, audio_codec: 'none', trim_end: 1 }),
    ]);

    expect((await stat(coarse.path)).size).toBeLessThan((await stat(fine.path)).size / 2);
  });

  test('video_bitrate is kept', async () => {
    const { path } = await convert('mp4', { video_bitrate: 300, audio_codec: 'none' });

    const kilobits = ((await stat(path)).size * 8) / 4 / 1000;
    expect(kilobits).toBeGreaterThan(200);
    expect(kilobits).toBeLessThan(400);
  });

  test('preset and profile reach the encoder', async () => {
    const { path } = await convert('mp4', { preset: 'ultrafast', profile: 'baseline', trim_end: 0.2 });

    const { stdout } = await execute('ffprobe', [
      '-v',
      'error',
      '-select_streams',
      'v',
      '-show_entries',
      'stream=profile',
      '-of',
      'csv=p=0',
      path,
    ]);
    expect(stdout.trim()).toBe('Constrained Baseline');
  });

  test.each([
    [{ width: 160 }, 160, 120],
    [{ width: 640, height: 100 }, 134, 100],
    [{ width: 1000 }, 320, 240],
    [{ width: 200, height: 200, fit: 'crop' }, 200, 200],
    [{ width: 200, height: 100, fit: 'scale' }, 200, 100],
    [{ width: 640, fit: 'scale' }, 640, 480],
    [{ video_resolution: '1280:720' }, 960, 720],
    [{ width: 101, height: 101, fit: 'scale' }, 102, 102],
  ])('%o gives a picture of %i × %i', async (options, width, height) => {
    const { path } = await convert('mp4', { ...options, trim_end: 0.2 });

    expect((await facts(path)).video).toMatchObject({ width, height });
  });

  test('fit crop cuts and does not distort', async () => {
    const { path } = await convert('mp4', { width: 120, height: 240, fit: 'crop', trim_end: 0.2 });

    const expected = await sharp(await frameAt(video.path, 0))
      .extract({ left: 100, top: 0, width: 120, height: 240 })
      .png()
      .toBuffer();
    expect(await pictureSimilarity(await frameAt(path, 0), expected)).toBeGreaterThan(0.93);
  });

  test('fps sets the frame rate and keeps the duration', async () => {
    const made = await facts((await convert('mp4', { fps: 10 })).path);

    expect(made.video?.framesPerSecond).toBeCloseTo(10, 1);
    expect(made.seconds).toBeCloseTo(4, 0);
  });

  test('aspect sets the shape in which players show it', async () => {
    const made = await facts((await convert('mp4', { aspect: '16:9', trim_end: 0.2 })).path);

    expect(made.video?.aspect).toBeCloseTo(16 / 9, 1);
  });

  test('trim_start and trim_end cut to the frame', async () => {
    const { path } = await convert('mp4', { trim_start: '00:00:01.20', trim_end: '2.2' });

    expect(await frames(path)).toBe(25);
    expect(await pictureSimilarity(await frameAt(path, 0), await frameAt(video.path, 1.2))).toBeGreaterThan(0.96);
  });

  test('faststart decides whether the index comes first', async () => {
    const [first, last] = await Promise.all([convert('mp4'), convert('mp4', { faststart: false })]);

    const indexComesFirst = async (path: string) => {
      const bytes = await readFile(path);
      return bytes.indexOf('moov') < bytes.indexOf('mdat');
    };
    expect(await indexComesFirst(first.path)).toBe(true);
    expect(await indexComesFirst(last.path)).toBe(false);
  });

  test('A video that a phone marked as rotated stands upright in a format without such marks', async () => {
    const rotated = join(folder, 'rotated.mp4');
    await ffmpeg('-i', video.path, '-c', 'copy', '-metadata:s:v', 'rotate=90', rotated);

    const { path } = await run('convert', { path: rotated, format: 'mp4' }, 'mkv', { trim_end: 0.5 });

    expect((await facts(path)).video).toMatchObject({ width: 240, height: 320 });
  });

  test('Progress comes from ffmpeg and ends at 100', async () => {
    const { progress } = await convert('webm', { preset: 'ultrafast' });

    expect(progress.at(-1)).toBe(100);
    expect(progress.every((percent) => percent >= 0 && percent <= 100)).toBe(true);
    expect(progress.length).toBeGreaterThan(1);
  });
});

describe('Sound of a conversion', () => {
  test.each([
    ['mp4', 'libmp3lame', 'mp3'],
    ['mkv', 'libopus', 'opus'],
    ['mkv', 'flac', 'flac'],
    ['m4a', 'alac', 'alac'],
    ['ogg', 'libopus', 'opus'],
    ['wav', 'pcm_s24le', 'pcm_s24le'],
  ])('%s with audio_codec %s holds %s', async (to, codec, expected) => {
    const { path } = await convert(to, { audio_codec: codec });

    expect((await facts(path)).audio?.codec).toBe(expected);
    expect((await listen(path)).tone).toBeGreaterThan(0.9);
  });

  test('audio_codec none leaves no sound', async () => {
    expect((await facts((await convert('mp4', { audio_codec: 'none' })).path)).audio).toBeUndefined();
  });

  test.each([
    [{ audio_bitrate: 64 }, { bitRate: 64_000 }],
    [{ audio_frequency: 22050 }, { rate: 22_050 }],
    [{ sample_rate: '32000' }, { rate: 32_000 }],
    [{ channels: 1 }, { channels: 1 }],
  ])('mp3 with %o has %o', async (options, expected) => {
    const { path } = await convert('mp3', options);

    expect((await facts(path)).audio).toMatchObject(expected);
  });

  test('volume multiplies the level', async () => {
    const [usual, half] = await Promise.all([convert('wav'), convert('wav', { volume: 0.5 })]);

    expect((await listen(half.path)).level / (await listen(usual.path)).level).toBeCloseTo(0.5, 1);
  });

  test('The picture of the cover goes along, and does not count as a video', async () => {
    const cover = join(folder, 'cover.jpg');
    const withCover = join(folder, 'cover.mp3');
    await sharp({ create: { width: 64, height: 64, channels: 3, background: '#c02020' } })
      .jpeg()
      .toFile(cover);
    await ffmpeg(
      '-i',
      sound.path,
      '-i',
      cover,
      '-map',
      '0',
      '-map',
      '1',
      '-c:v',
      'copy',
      '-disposition:v',
      'attached_pic',
      '-t',
      '1',
      withCover,
    );

    const { path } = await run('convert', { path: withCover, format: 'mp3' }, 'm4a');
    const bare = await run('convert', { path: withCover, format: 'mp3' }, 'wav');

    expect((await facts(path)).video?.codec).toBe('mjpeg');
    expect((await facts(bare.path)).video).toBeUndefined();
  });
});

describe('Subtitles', () => {
  let subtitled: { path: string; format: string };
  beforeAll(async () => {
    const text = join(folder, 'text.srt');
    subtitled = { path: join(folder, 'subtitled.mkv'), format: 'mkv' };
    await writeFile(text, '1\n00:00:00,000 --> 00:00:04,000\nWWWWWWWWWWWWWWWW\n');
    await ffmpeg(
      '-f',
      'lavfi',
      '-i',
      'color=black:size=320x240:rate=25:duration=4',
      '-i',
      text,
      '-c:v',
      'libx264',
      '-c:s',
      'ass',
      subtitled.path,
    );
  });

  test('soft keeps them as a track of the format', async () => {
    const [mp4, webm] = await Promise.all([
      run('convert', subtitled, 'mp4'),
      run('convert', subtitled, 'webm', { trim_end: 1 }),
    ]);

    expect((await facts(mp4.path)).subtitles).toEqual(['mov_text']);
    expect((await facts(webm.path)).subtitles).toEqual(['webvtt']);
  });

  test('none leaves them out', async () => {
    expect((await facts((await run('convert', subtitled, 'mp4', { subtitles_mode: 'none' })).path)).subtitles).toEqual(
      [],
    );
  });

  test('hard draws them into the pictures', async () => {
    const { path } = await run('convert', subtitled, 'mp4', { subtitles_mode: 'hard' });

    const lower = await sharp(await frameAt(path, 1))
      .extract({ left: 0, top: 160, width: 320, height: 80 })
      .stats();
    expect((await facts(path)).subtitles).toEqual([]);
    expect(lower.channels[0]?.max).toBeGreaterThan(200);
  });
});

describe('A video becomes an animation', () => {
  test('A gif takes the cut, the width, the frame rate and the loops', async () => {
    const { path } = await convert('gif', {
      cut_start_video_to_gif: '00:00:01.00',
      cut_end_gif: '00:00:02.00',
      video_custom_width_gif: 100,
      gif_fps: 5,
      loop_count_video_to_gif: 3,
    });

    const found = await sharp(path, { pages: -1 }).metadata();
    expect(found).toMatchObject({ format: 'gif', width: 100, pages: 5, loop: 3 });
    expect(found.delay).toEqual([200, 200, 200, 200, 200]);
    expect(await pictureSimilarity(await sharp(path).png().toBuffer(), await frameAt(video.path, 1))).toBeGreaterThan(
      0.93,
    );
  });

  test('video_to_gif_compression and a still background make it smaller', async () => {
    const still = join(folder, 'still.mp4');
    await ffmpeg(
      '-f',
      'lavfi',
      '-i',
      'testsrc=size=320x240:rate=10:duration=2',
      '-c:v',
      'libx264',
      '-crf',
      '10',
      '-pix_fmt',
      'yuv420p',
      still,
    );
    const input = { path: still, format: 'mp4' };
    const [usual, coarse, background] = await Promise.all([
      run('convert', input, 'gif'),
      run('convert', input, 'gif', { video_to_gif_compression: 90 }),
      run('convert', input, 'gif', { video_to_gif_optimize_static_bg: true }),
    ]);

    const size = async ({ path }: { path: string }) => (await stat(path)).size;
    expect(await size(coarse)).toBeLessThan(await size(usual));
    expect(await size(background)).toBeLessThanOrEqual((await size(usual)) * 1.1);
  });

  test('video_to_gif_transparency keeps what is transparent, which is white otherwise', async () => {
    const clear = join(folder, 'clear.mov');
    await ffmpeg(
      '-f',
      'lavfi',
      '-i',
      'color=red@0.0:size=64x64:rate=10:duration=1,format=argb',
      '-c:v',
      'qtrle',
      clear,
    );
    const input = { path: clear, format: 'mov' };
    const [kept, white] = await Promise.all([
      run('convert', input, 'gif', { video_to_gif_transparency: true }),
      run('convert', input, 'gif'),
    ]);

    const corner = async (path: string) => [
      ...(await sharp(path).ensureAlpha().extract({ left: 5, top: 5, width: 1, height: 1 }).raw().toBuffer()),
    ];
    expect((await corner(kept.path))[3]).toBe(0);
    expect(await corner(white.path)).toEqual([255, 255, 255, 255]);
  });

  test('A webp takes the cut, the size, the rate and the loops', async () => {
    const { path } = await convert('webp', {
      trim_start: 1,
      trim_end: 2,
      width: 100,
      fps: 5,
      loop_count: 2,
      quality: 50,
    });

    expect(await sharp(path, { pages: -1 }).metadata()).toMatchObject({
      format: 'webp',
      width: 100,
      pages: 5,
      loop: 2,
    });
  });

  test('An apng moves', async () => {
    const { path } = await convert('apng', { trim_end: 1, fps: 5 });

    expect(await frames(path)).toBe(5);
  });

  test('A transparent gif stands on white in a video', async () => {
    const clear = join(folder, 'clear.gif');
    await ffmpeg(
      '-f',
      'lavfi',
      '-i',
      'color=red@0.0:size=64x64:rate=10:duration=1,format=rgba',
      '-vf',
      'split[a][b];[a]palettegen[p];[b][p]paletteuse',
      clear,
    );
    const { path } = await run('convert', { path: clear, format: 'gif' }, 'mp4');

    const { channels } = await sharp(await frameAt(path, 0)).stats();
    expect(channels.every(({ mean }) => mean > 245)).toBe(true);
  });
});

describe('Pictures are taken out of a video', () => {
  test('frame_time tells which', async () => {
    const { path, outputs } = await convert('png', { frame_time: '00:00:02.00' });

    expect(outputs).toHaveLength(1);
    expect(await pictureSimilarity(path, await frameAt(video.path, 2))).toBeGreaterThan(0.99);
  });

  test('fps takes several, in order and numbered', async () => {
    const { outputs } = await convert('jpg', { fps: 2, trim_start: 1, trim_end: 3, width: 160 });

    expect(outputs.map(({ name }) => name)).toEqual([
      'sample-0001.jpg',
      'sample-0002.jpg',
      'sample-0003.jpg',
      'sample-0004.jpg',
    ]);
    expect((await sharp(outputs[0]?.path).metadata()).width).toBe(160);
  });
});

describe('A video is compressed', () => {
  const compress = (to: string, options: Record<string, unknown>) => run('compress', video, to, options);

  test.each([['mp4'], ['mkv'], ['mov'], ['webm']])('%s meets a size in megabytes', async (to) => {
    const { path, details } = await run('compress', small, to, {
      compress_video: 'by_size',
      video_compress_max_filesize: 0.05,
    });

    const { size } = await stat(path);
    expect(size).toBeLessThanOrEqual(50_000);
    expect(size).toBeGreaterThanOrEqual(47_500);
    expect(details).toMatchObject({ size_before: (await stat(small.path)).size, size_after: size });
    expect(await videoSimilarity(path, small.path)).toBeGreaterThan(0.6);
  });

  test('by_percentage meets the percentage, 60 unless given', async () => {
    const before = (await stat(small.path)).size;
    const [usual, third] = await Promise.all([
      run('compress', small, 'mp4', {}),
      run('compress', small, 'mp4', {
        compress_video: 'by_percentage',
        video_compress_quality_percentage: 30,
        video_codec_compress: 'libx265',
        video_compress_speed: 'ultrafast',
      }),
    ]);

    expect((await stat(usual.path)).size / before).toBeGreaterThan(0.57);
    expect((await stat(usual.path)).size / before).toBeLessThanOrEqual(0.6);
    expect((await stat(third.path)).size / before).toBeGreaterThan(0.285);
    expect((await stat(third.path)).size / before).toBeLessThanOrEqual(0.3);
  });

  test('A size that cannot be reached says the smallest that can', async () => {
    await expect(
      run('compress', small, 'mp4', { compress_video: 'by_size', video_compress_max_filesize: 0.002 }),
    ).rejects.toThrow(/cannot be compressed to 2\.0 kB: the smallest possible size is about [\d.]+ [kM]B/);
  });

  test('A file that is small enough comes back as it is, and says so', async () => {
    const { path, details } = await compress('mp4', { compress_video: 'by_size', video_compress_max_filesize: 100 });

    expect(await readFile(path)).toEqual(await readFile(video.path));
    expect(details?.note).toMatch(/already/);
  });

  test('by_video_quality follows the factor of each codec', async () => {
    const [fine, coarse, hevc] = await Promise.all([
      run('compress', small, 'mkv', { compress_video: 'by_video_quality', video_compress_crf_x264: 24 }),
      run('compress', small, 'mkv', { compress_video: 'by_video_quality', video_compress_crf_x264: 40 }),
      run('compress', small, 'mkv', {
        compress_video: 'by_video_quality',
        video_codec_compress: 'libx265',
        video_compress_crf_x265: 30,
        video_compress_speed: 'ultrafast',
      }),
    ]);

    expect((await stat(coarse.path)).size).toBeLessThan((await stat(fine.path)).size);
    expect((await facts(hevc.path)).video?.codec).toBe('hevc');
  });

  test.each([
    [{ video_compression_resolution_preset: '256:144' }, 192, 144],
    [{ video_compression_resize_method: 'by_width_keep_ar', video_custom_width_compress: 160 }, 160, 120],
    [{ video_compression_resize_method: 'by_height_keep_ar', video_custom_height_compress: 60 }, 80, 60],
    [
      {
        video_compression_resize_method: 'by_width_height',
        video_custom_width_compress: 100,
        video_custom_height_compress: 50,
      },
      100,
      50,
    ],
  ])('by_resolution with %o gives %i × %i', async (options, width, height) => {
    const { path } = await run('compress', brief, 'mp4', { compress_video: 'by_resolution', ...options });

    expect((await facts(path)).video).toMatchObject({ width, height });
  });

  test('by_max_bitrate stays below the rate', async () => {
    const { path } = await compress('mkv', {
      compress_video: 'by_max_bitrate',
      video_compress_max_bitrate: 150,
      video_compressor_bufsize: 75,
    });

    const sizes = (
      await execute('ffprobe', [
        '-v',
        'error',
        '-select_streams',
        'v',
        '-show_entries',
        'packet=size',
        '-of',
        'csv=p=0',
        path,
      ])
    ).stdout;
    const bits = sizes.split('\n').reduce((sum, size) => sum + (Number.parseInt(size, 10) || 0) * 8, 0);
    expect(bits / 4).toBeLessThan(165_000);
  });

  test('An option without the choice it belongs to is refused', () => {
    const options = media.find('compress', 'mp4', 'mp4')?.capability.options ?? [];
    const { errors } = checkOptions(options, { compress_video: 'by_size', video_compress_crf_x264: 30 });

    expect(Object.keys(errors)).toEqual(['video_compress_crf_x264']);
  });
});

describe('A sound is compressed', () => {
  test.each([['mp3'], ['m4a'], ['ogg'], ['opus']])('%s meets a size in megabytes', async (to) => {
    const { path, details } = await run('compress', sound, to, {
      compress_audio: 'by_size',
      audio_compress_max_filesize: 0.06,
    });

    const { size } = await stat(path);
    expect(size).toBeLessThanOrEqual(60_000);
    expect(size).toBeGreaterThanOrEqual(57_000);
    expect(details).toMatchObject({ size_after: size });
    expect((await facts(path)).seconds).toBeCloseTo(6, 0);
  });

  test('by_bitrate sets the rate, and by_percentage the share', async () => {
    const mp3 = await run('convert', sound, 'mp3', { audio_bitrate: 256 });
    const input = { path: mp3.path, format: 'mp3' };
    const [rated, shared] = await Promise.all([
      run('compress', input, 'mp3', { audio_bitrate: 64 }),
      run('compress', input, 'mp3', { compress_audio: 'by_percentage', audio_compress_percentage: 40 }),
    ]);

    const before = (await stat(mp3.path)).size;
    expect((await stat(rated.path)).size / before).toBeCloseTo(0.25, 1);
    expect((await stat(shared.path)).size / before).toBeLessThanOrEqual(0.4);
    expect((await stat(shared.path)).size / before).toBeGreaterThanOrEqual(0.38);
  });

  test('A size that cannot be reached says the smallest that can', async () => {
    await expect(
      run('compress', sound, 'mp3', { compress_audio: 'by_size', audio_compress_max_filesize: 0.002 }),
    ).rejects.toThrow(/smallest possible size/);
  });
});

describe('A part is cut out', () => {
  test('Exact to the frame by default', async () => {
    const { path } = await run('trim', video, 'mp4', { trim_start: '00:00:00.60', trim_end: '00:00:01.80' });

    expect(await frames(path)).toBe(30);
    expect(await pictureSimilarity(await frameAt(path, 0), await frameAt(video.path, 0.6))).toBeGreaterThan(0.97);
    expect((await listen(path)).seconds).toBeCloseTo(1.2, 1);
  });

  test('Fast copies the streams', async () => {
    const { path } = await run('trim', video, 'mp4', { trim_start: 1, trim_end: 3, trim_mode: 'fast' });

    const made = await facts(path);
    expect(made.seconds).toBeGreaterThan(1.8);
    expect(made.seconds).toBeLessThan(3.1);
    expect(made.video?.codec).toBe('h264');
  });

  test('Of audio, to the sample if it is lossless', async () => {
    const { path } = await run('trim', sound, 'wav', { trim_start: 1.5, trim_end: 2 });

    expect((await stat(path)).size).toBeCloseTo(44 + 22_050 * 4, -3);
  });

  test('A start beyond the end of the file is refused', async () => {
    await expect(run('trim', video, 'mp4', { trim_start: 9 })).rejects.toThrow(
      'trim_start (9 s) must be before the end of the file, which lasts 4.',
    );
    await expect(run('trim', video, 'mp4', { trim_start: 2, trim_end: 1 })).rejects.toThrow(
      'trim_end (1 s) must be later than trim_start (2 s).',
    );
  });
});

describe('A rectangle is cut out', () => {
  test('At its place and with even sides', async () => {
    const { path } = await run('crop', brief, 'mp4', { x: 40, y: 60, width: 101, height: 80 });

    const expected = await sharp(await frameAt(video.path, 0))
      .extract({ left: 40, top: 60, width: 100, height: 80 })
      .png()
      .toBuffer();
    expect((await facts(path)).video).toMatchObject({ width: 100, height: 80 });
    expect(await pictureSimilarity(await frameAt(path, 0), expected)).toBeGreaterThan(0.95);
  });

  test('One that is not inside the video is refused with the size of the video', async () => {
    await expect(run('crop', video, 'mp4', { x: 300, width: 100 })).rejects.toThrow('which is 320 × 240');
  });
});
