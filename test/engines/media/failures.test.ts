import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { ffmpeg, makeSample } from './samples.ts';
import { run, testFile, testFolder } from './work.ts';

// Each test runs programs, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
beforeAll(async () => {
  folder = await testFolder();
});

async function failure(
  path: string,
  format: string,
  to: string,
  options: Record<string, unknown> = {},
): Promise<EngineError> {
  const error = await run('convert', { path, format }, to, options).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(EngineError);
  return error instanceof EngineError ? error : new EngineError('');
}

test.each(['mp4', 'mkv', 'avi', 'mp3', 'wav', 'flac', 'gif', 'webp'])(
  'An empty %s is called empty or unreadable',
  async (format) => {
    const { message } = await failure(
      await testFile('empty', ''),
      format,
      format === 'gif' || format === 'webp' ? 'mp4' : 'wav',
    );

    expect(message).toMatch(/empty|damaged/);
  },
);

test.each(['mp4', 'mkv', 'avi', 'flv', 'ogv', 'mxf', 'wmv', 'flac', 'ogg', 'wv', 'm4a', 'gif', 'apng', 'webp'])(
  'Noise under the name of %s is called damaged',
  async (format) => {
    const noise = Uint8Array.from({ length: 20_000 }, (_, at) => (at * 7919 + (at >> 3) * 104_729) & 0xff);
    const picture = ['gif', 'apng', 'webp'].includes(format);
    const { message } = await failure(await testFile('noise', noise), format, picture ? 'mp4' : 'wav');

    expect(message).toMatch(/damaged|no video or audio|not supported|no audio/);
  },
);

test('A truncated mp4 without its index says that it is incomplete, and the log has what ffmpeg said', async () => {
  const whole = await readFile(await makeSample('mp4', folder));
  const { message, detail } = await failure(await testFile('half', whole.subarray(0, whole.length / 2)), 'mp4', 'mkv');

  expect(message).toBe('The file could not be read as mp4: it is damaged or incomplete.');
  expect(detail).toContain('moov atom not found');
});

test.each(['mkv', 'webm', 'avi'])('A %s that ends early says how much of it could be read', async (format) => {
  const path = join(folder, `long.${format}`);
  const pictures = ['-f', 'lavfi', '-i', 'testsrc=size=160x120:rate=10:duration=20'];
  const fast = format === 'webm' ? ['-deadline', 'realtime', '-cpu-used', '8'] : [];
  await ffmpeg(...pictures, '-f', 'lavfi', '-i', 'anoisesrc=duration=20:amplitude=0.2', ...fast, path);
  const whole = await readFile(path);
  const { message } = await failure(await testFile('cut', whole.subarray(0, whole.length * 0.4)), format, 'mp4');

  expect(message).toMatch(/damaged or incomplete/);
});

test('A video without audio cannot be converted to audio', async () => {
  const path = join(folder, 'silent.mp4');
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc=size=64x64:duration=1', '-pix_fmt', 'yuv420p', path);

  expect((await failure(path, 'mp4', 'mp3')).message).toBe('The file has no audio, so it cannot be converted to mp3.');
});

test('Audio in a video container cannot be converted to images', async () => {
  const path = join(folder, 'sound.mp4');
  await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'aac', path);

  expect((await failure(path, 'mp4', 'gif')).message).toBe('The file has no video, so it cannot be converted to gif.');
  expect((await failure(path, 'mp4', 'h264')).message).toBe(
    'The file has no video, so it cannot be converted to h264.',
  );
});

test('A picture that does not move is no video', async () => {
  const path = join(folder, 'still.gif');
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc=size=64x64:rate=1:duration=1', '-frames:v', '1', path);

  expect((await failure(path, 'gif', 'mp4')).message).toContain('not animated');
});

test('A codec that nobody decodes is called unsupported', async () => {
  const whole = await readFile(await makeSample('mp4', folder));
  const unknown = Buffer.from(whole.toString('latin1').replaceAll('avc1', 'zzz1').replaceAll('avcC', 'zzzC'), 'latin1');
  const { message } = await failure(await testFile('unknown', unknown), 'mp4', 'mkv');

  expect(message).toMatch(/not supported|no readable frame/);
});

test('Copy protection is named', async () => {
  const path = join(folder, 'protected.mp4');
  await ffmpeg(
    ...[
      '-f',
      'lavfi',
      '-i',
      'testsrc=size=64x64:duration=1',
      '-pix_fmt',
      'yuv420p',
      '-encryption_scheme',
      'cenc-aes-ctr',
    ],
    ...[
      '-encryption_key',
      '76a6c65c5ea762046bd749a2e632ccbb',
      '-encryption_kid',
      'a7e61c373e219033c21091fa607bf3b8',
      path,
    ],
  );

  expect((await failure(path, 'mp4', 'mkv')).message).toContain('protected');
});

test('A codec that cannot be copied into the format says so', async () => {
  const path = await makeSample('webm', folder);

  expect((await failure(path, 'webm', 'wmv', { video_codec: 'copy' })).message).toMatch(/cannot be copied into wmv/);
});

test('Flipped bits never give a broken output: it is refused or plays', async () => {
  const whole = await readFile(await makeSample('mkv', folder));
  for (let seed = 1; seed <= 6; seed++) {
    const damaged = Buffer.from(whole);
    for (let at = 0; at < 40; at++) {
      const place = (seed * 7919 + at * 104_729) % damaged.length;
      damaged[place] = (damaged[place] ?? 0) ^ (1 << (at % 8));
    }
    const path = await testFile(`damaged-${seed}`, damaged);
    const result = await run('convert', { path, format: 'mkv' }, 'mp4').catch((reason: unknown) => reason);
    if (result instanceof Error) expect(result).toBeInstanceOf(EngineError);
  }
});
