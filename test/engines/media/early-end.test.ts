import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { facts, listen } from './compare.ts';
import { ffmpeg, toneHertz } from './samples.ts';
import { run, testFile, testFolder } from './work.ts';

// Each test runs programs, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
beforeAll(async () => {
  folder = await testFolder();
});

describe('Sound whose header promises more than there is', () => {
  /** Writes ten seconds of a tone and leaves a part of them. */
  async function cutSound(format: string, share: number): Promise<string> {
    const path = join(folder, `whole.${format}`);
    await ffmpeg('-f', 'lavfi', '-i', `sine=frequency=${toneHertz}:duration=10`, path);
    const whole = await readFile(path);
    return testFile(`cut.${format}`, whole.subarray(0, whole.length * share));
  }

  test.each([
    ['flac', 'wav'],
    // What would be copied would keep the promise in its own header.
    ['flac', 'flac'],
    ['wma', 'wav'],
    ['wma', 'wma'],
    ['wav', 'mp3'],
    ['aiff', 'wv'],
  ])('%s is converted to %s as far as it goes, with a warning', async (format, to) => {
    const path = await cutSound(format, 0.4);

    const { path: made, warnings } = await run('convert', { path, format }, to);

    expect(warnings).toHaveLength(1);
    const [, seconds] =
      /^The file ends early: ([\d.]+) of 10\.\d seconds could be decoded\.$/.exec(warnings?.[0] ?? '') ?? [];
    const { seconds: heard, tone } = await listen(made, to);
    expect(Number(seconds)).toBeGreaterThan(3);
    expect(Number(seconds)).toBeLessThan(5);
    expect(Math.abs(heard - Number(seconds))).toBeLessThan(0.2);
    expect(Math.abs((await facts(made)).seconds - heard)).toBeLessThan(0.2);
    expect(tone).toBeGreaterThan(0.9);
  });

  test('A cut beyond what is left tells how much of it there was', async () => {
    const path = await cutSound('flac', 0.4);

    const { warnings } = await run('trim', { path, format: 'flac' }, 'mp3', { trim_start: '2', trim_end: '9' });

    expect(warnings?.[0]).toMatch(/^The file ends early: [12]\.\d of the 7\.0 requested seconds could be decoded\.$/);
  });

  test.each(['flac', 'wma', 'wav', 'aiff'])('A %s with almost no content left is refused', async (format) => {
    const path = await cutSound(format, 0.02);

    await expect(run('convert', { path, format }, 'mp3')).rejects.toThrow(/damaged/);
  });

  test.each(['flac', 'wma', 'wav'])('A whole %s gets no warning', async (format) => {
    const path = await cutSound(format, 1);

    expect((await run('convert', { path, format }, 'mp3')).warnings).toBeUndefined();
  });
});
