import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { detectFormat } from '../../../shared/catalogue/detect.ts';
import { facts, listen, videoSimilarity } from './compare.ts';
import { dff, dsf, monkeysAudio, musepack7, toneSamples } from './handmade.ts';
import { makeSample, toneHertz } from './samples.ts';
import { media, run, testFile, testFolder } from './work.ts';

// Each test runs programs, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const execute = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await testFolder();
});

describe('Sound that only enthusiasts have', () => {
  test("Monkey's Audio comes out sample by sample", async () => {
    const samples = toneSamples(toneHertz);
    const path = await testFile('tone.ape', monkeysAudio(samples));

    const made = await run('convert', { path, format: 'ape' }, 'wav');

    const { stdout } = await execute('sox', [made.path, '-t', 's16', '-'], { encoding: 'buffer' });
    expect(stdout.equals(Buffer.from(samples.buffer))).toBe(true);
    expect(made.warnings).toBeUndefined();
  });

  test.each([
    ['as it is', Buffer.alloc(0)],
    ['after a tag as of MP3', Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\x01\0', 'latin1'), Buffer.alloc(128)])],
  ])('Musepack of stream version 7, %s, sounds as its own decoder plays it', async (_, tag) => {
    // Prepare
    const plain = await testFile('tone7.mpc', musepack7(toneHertz));
    const bytes = Buffer.concat([tag, await readFile(plain)]);
    const path = await testFile('tagged.mpc', bytes);
    await execute('mpcdec', [plain, join(folder, 'decoded.wav')]);

    // Act
    const made = await run('convert', { path, format: await detectFormat(media, bytes, 'any.mpc') }, 'flac');

    // Assess
    const [ours, theirs] = [await listen(made.path, 'flac'), await listen(join(folder, 'decoded.wav'), 'wav')];
    for (const { tone } of [ours, theirs]) expect(tone).toBeGreaterThan(0.98);
    expect(ours.level).toBeCloseTo(theirs.level, 2);
    expect(ours.seconds).toBeCloseTo(theirs.seconds, 1);
  });

  test.each([
    ['dsf', dsf],
    ['dff', dff],
  ])('One bit a sample (%s) becomes sound of 24 bits at a rate that players take', async (format, make) => {
    const bytes = make(toneHertz);
    const path = await testFile(`tone.${format}`, bytes);

    const made = await run('convert', { path, format: await detectFormat(media, bytes, 'any') }, 'wav');

    const { stdout } = await execute('soxi', [made.path]);
    expect(stdout).toMatch(/Sample Rate\s*: 176400/);
    expect(stdout).toMatch(/Precision\s*: 24-bit/);
    const { tone, level, seconds } = await listen(made.path, 'wav');
    expect(tone).toBeGreaterThan(0.99);
    expect(level).toBeCloseTo(0.4 / Math.SQRT2, 2);
    expect(seconds).toBeCloseTo(1, 1);
  });

  test('Sound of five million bits a second becomes FLAC, which has no such rate', async () => {
    const bytes = dsf(toneHertz);
    bytes.writeUInt32LE(5_644_800, 56);
    const path = await testFile('fast.dsf', bytes);

    const made = await run('convert', { path, format: 'dsf' }, 'flac');

    expect((await facts(made.path)).audio?.rate).toBe(176_400);
    expect((await listen(made.path, 'flac', toneHertz * 2)).tone).toBeGreaterThan(0.99);
  });

  test('Theora in Ogg is read as ogx, also if a description of the streams comes first', async () => {
    const theora = await readFile(await makeSample('ogv', folder));
    const described = Buffer.concat([skeletonPage(), theora]);
    const path = await testFile('described.ogx', described);

    const formats = await Promise.all(
      [theora, described].flatMap((bytes) => ['any', 'video.ogx'].map((name) => detectFormat(media, bytes, name))),
    );
    const made = await run('convert', { path, format: formats[3] ?? '' }, 'mp4');

    expect(formats).toEqual(['ogv', 'ogv', 'ogv', 'ogv']);
    expect(await videoSimilarity(made.path, join(folder, 'sample.ogv'))).toBeGreaterThan(0.8);
  });
});

/** Writes the first page of an Ogg Skeleton, which describes the streams after it. */
function skeletonPage(): Buffer {
  const body = Buffer.alloc(64);
  body.write('fishead\0', 0, 'latin1');
  body.writeUInt16LE(3, 8);
  body.writeUInt32LE(1000, 20);
  const page = Buffer.alloc(28);
  page.write('OggS', 0, 'latin1');
  page[5] = 2;
  page.writeUInt32LE(77, 14);
  page[26] = 1;
  page[27] = body.length;
  const whole = Buffer.concat([page, body]);
  let sum = 0;
  for (const byte of whole) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ (sum < 0 ? 0x04c1_1db7 : 0);
  }
  whole.writeUInt32LE(sum >>> 0, 22);
  return whole;
}
