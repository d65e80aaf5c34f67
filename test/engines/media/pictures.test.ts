import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type PictureFacts, pictureFacts, pixelAt } from '../picture-facts.ts';
import { ffmpeg } from './samples.ts';
import { run, testFolder } from './work.ts';

// Each test runs programs, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** Half a second of a test pattern, 320x240. */
let video: { path: string; format: string };
/** Half a second of blue on the left and nothing on the right, 64x48, with the transparency of VP9. */
let clear: { path: string; format: string };

beforeAll(async () => {
  const folder = await testFolder();
  video = { path: join(folder, 'video.mp4'), format: 'mp4' };
  clear = { path: join(folder, 'clear.webm'), format: 'webm' };
  const pattern = ['-f', 'lavfi', '-i', 'testsrc2=size=320x240:rate=10:duration=0.5'];
  await ffmpeg(...pattern, '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', video.path);
  const half = 'color=blue:size=64x48:rate=10:duration=0.5,format=yuva420p,geq=lum=41:cb=240:cr=110:a=255*lt(X\\,32)';
  await ffmpeg('-f', 'lavfi', '-i', half, '-c:v', 'libvpx-vp9', '-deadline', 'realtime', clear.path);
});

const convert = (to: string, options: Record<string, unknown>) => run('convert', video, to, options);

describe('Stills follow the options of a picture', () => {
  test.each<[string, Record<string, unknown>, Partial<PictureFacts>]>([
    ['png', { png_compression_level: 'lossy', png_convert_quality: 60 }, { size: '320x240', type: 'Palette' }],
    ['png', { image_custom_width: 641, image_dpi: 300 }, { size: '641x481', density: 300 }],
    ['png', { image_resize_percentage: 50, progressive: true }, { size: '160x120', interlace: 'PNG' }],
    ['png', { width: 160, rotate: -90, strip: false }, { size: '120x160' }],
    ['png', { width: 100, height: 100, fit: 'pad' }, { size: '100x100', type: 'TrueColorAlpha' }],
    ['jpg', { jpg_convert_compression_level: 10 }, { quality: 10 }],
    ['jpg', { jpg_convert_compression_level: 90, quality: 20 }, { quality: 90 }],
    ['jpg', { color_space: 'gray', progressive: true }, { quality: 90, type: 'Grayscale', interlace: 'JPEG' }],
    ['jpg', { image_custom_width: 50, image_custom_height: 90, fit: 'crop' }, { size: '50x90' }],
  ])('as %s with %j', async (format, options, expected) => {
    const { path } = await convert(format, options);

    expect(await pictureFacts(path)).toMatchObject(expected);
  });

  test('all of them if there are several', async () => {
    const { outputs } = await convert('png', { fps: 4, image_custom_width: 64 });

    expect(outputs.map(({ name }) => name)).toEqual(['sample-0001.png', 'sample-0002.png']);
    for (const { path } of outputs) expect((await pictureFacts(path)).size).toBe('64x48');
  });

  test('and a picture that is turned round and mirrored both ways is the picture itself', async () => {
    const [plain, turned] = await Promise.all([convert('png', {}), convert('png', { rotate: 180, flip: 'both' })]);

    const pixels = (path: string) => sharp(path).removeAlpha().raw().toBuffer();
    expect((await pixels(turned.path)).equals(await pixels(plain.path))).toBe(true);
  });

  test('with the background behind what is transparent', async () => {
    const { path } = await run('convert', clear, 'png', { background: '#00ff00' });

    const [[red = 0, green = 0, blue = 0] = [], right] = [await pixelAt(path, 8, 24), await pixelAt(path, 56, 24)];
    expect(red + green).toBeLessThan(60);
    expect(blue).toBeGreaterThan(200);
    expect(right).toEqual([0, 255, 0, 255]);
  });
});

describe('Animations follow the options of a picture', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['gif', { image_custom_width: 101 }, '101x76'],
    ['gif', { rotate: 90, image_custom_height: 64 }, '48x64'],
    ['webp', { image_resize_percentage: 25 }, '80x60'],
    ['webp', { image_custom_width: 50, image_custom_height: 90, fit: 'crop' }, '50x90'],
    ['apng', { image_custom_width: 80, image_custom_height: 90, fit: 'max' }, '80x60'],
    ['apng', { rotate: 30, width: 100 }, '100x92'],
  ])('%s with %j', async (format, options, size) => {
    const { path } = await convert(format, options);

    expect((await pictureFacts(path)).size).toBe(size);
  });

  test('mirrored and grey as asked', async () => {
    const { path } = await convert('webp', { flip: 'horizontal', color_space: 'gray' });
    const coloured = await convert('png', { flip: 'horizontal' });

    const pixels = (file: string) => sharp(file, { page: 0 }).removeAlpha().toColourspace('srgb').raw().toBuffer();
    const [found, expected] = await Promise.all([pixels(path), pixels(coloured.path)]);
    expect(found.length).toBe(expected.length);
    const differences = Array.from({ length: found.length / 3 }, (_, index) => {
      const [red = 0, green = 0, blue = 0] = expected.subarray(index * 3, index * 3 + 3);
      const luma = 0.299 * red + 0.587 * green + 0.114 * blue;
      return Math.max(...found.subarray(index * 3, index * 3 + 3).map((value) => Math.abs(value - luma)));
    });
    expect(differences.reduce((sum, value) => sum + value, 0) / differences.length).toBeLessThan(8);
  });

  test.each([
    ['gif', {}, [255, 255, 255, 255]],
    ['gif', { video_to_gif_transparency: true }, 0],
    ['gif', { background: '#00ff00' }, [0, 255, 0, 255]],
    ['webp', {}, 0],
    ['webp', { background: '#00ff00', lossless: true }, [0, 255, 0, 255]],
  ])('%s is padded with %j', async (format, options, expected) => {
    const { path } = await convert(format, { ...options, image_custom_width: 80, image_custom_height: 90, fit: 'pad' });

    const corner = await pixelAt(path, 2, 2);
    expect(expected === 0 ? corner[3] : corner).toEqual(expected);
    expect((await pixelAt(path, 40, 45))[3]).toBe(255);
  });

  test('without loss in a webp, which then is larger', async () => {
    const [lossy, lossless] = await Promise.all([
      convert('webp', { trim_end: 0.2 }),
      convert('webp', { trim_end: 0.2, lossless: true, quality: 10 }),
    ]);
    const { path } = await convert('png', {});

    expect((await stat(lossless.path)).size).toBeGreaterThan((await stat(lossy.path)).size);
    const pixels = (file: string) => sharp(file, { page: 0 }).removeAlpha().raw().toBuffer();
    const [found, expected] = await Promise.all([pixels(lossless.path), pixels(path)]);
    expect(found.every((value, at) => Math.abs(value - (expected[at] ?? 0)) <= 2)).toBe(true);
  });

  test('with the background behind what is transparent', async () => {
    const { path } = await run('convert', clear, 'webp', { background: '#00ff00', lossless: true });

    expect(await pixelAt(path, 56, 24)).toEqual([0, 255, 0, 255]);
  });

  test('not to a size beyond that of an animation', async () => {
    await expect(convert('gif', { image_custom_height: 4096 })).rejects.toThrow(/the maximum is 4096/);
  });
});
