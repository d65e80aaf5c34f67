import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect } from 'vitest';
import { imageFormats } from '../../../functions/engines/image/formats.ts';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { compare } from './compare.ts';
import { test } from './folder-test.ts';
import { readScene } from './raw/sensor.ts';
import { makeNef, makeNrw, makePef, makeTiff } from './raw/tiff-cameras.ts';
import { catalogue, detectFile, runEngine, runForPath } from './run-engine.ts';
import { makeSample, original } from './samples.ts';

const cameras = imageFormats.filter(({ camera }) => camera).map(({ ext }) => ext);

async function refusal(path: string, format: string, folder: string): Promise<EngineError> {
  const outcome: unknown = await runEngine({ inputs: [path], formats: [format], outputFormat: 'png', folder }).catch(
    (error: unknown) => error,
  );
  if (!(outcome instanceof EngineError)) throw new Error(`The ${format} was not refused.`, { cause: outcome });
  return outcome;
}

async function sceneIn(folder: string) {
  await makeSample('ppm', folder);
  return readScene(await readFile(join(folder, 'original.ppm')));
}

describe('Raw files of cameras', { timeout: 60_000 }, () => {
  test.for(cameras)(
    '%s has the colours and tones of the scene: the light and the curve are accounted for.',
    async (format, { folder }) => {
      const sample = await makeSample(format, folder);
      const output = await runForPath({ inputs: [sample], outputFormat: 'png', folder });
      const { difference, correlation } = await compare(await readFile(output), await original(), 'colour');
      expect(difference).toBeLessThan(2);
      expect(correlation).toBeGreaterThan(0.99);
    },
  );

  test.for(cameras)('%s is known by its content, whatever it is called.', async (format, { folder }) => {
    const sample = await makeSample(format, folder);
    for (const name of ['picture.tif', 'picture.jpg', 'picture.dng', 'picture.nef', 'picture']) {
      expect(await detectFile(sample, name)).toBe(format);
    }
  });

  test.for(cameras)('%s that ends early is refused instead of filled up with grey.', async (format, { folder }) => {
    const sample = await readFile(await makeSample(format, folder));
    const path = join(folder, `short.${format}`);
    for (const share of [0.3, 0.6, 0.9]) {
      await writeFile(path, sample.subarray(0, Math.floor(sample.length * share)));
      const { message } = await refusal(path, format, folder);
      expect(message).toMatch(/damaged, incomplete/);
    }
  });

  test('Each way in which a camera can be held, and each mirror image, comes out upright.', async ({ folder }) => {
    const scene = await sceneIn(folder);
    const path = join(folder, 'turned.nef');
    for (let orientation = 1; orientation <= 8; orientation++) {
      await writeFile(path, makeNef(scene, orientation));
      const output = await runForPath({ inputs: [path], outputFormat: 'png', folder });
      const upright = await sharp(await original())
        .withMetadata({ orientation })
        .jpeg({ quality: 100 })
        .toBuffer();
      const expected = await sharp(upright).autoOrient().png().toBuffer();
      const { width, height } = await sharp(output).metadata();
      expect([width, height]).toEqual(orientation < 5 ? [160, 120] : [120, 160]);
      expect((await compare(await readFile(output), expected, 'colour')).difference).toBeLessThan(3);
    }
  });

  test('An NRW of a compact camera is a NEF by another name.', async ({ folder }) => {
    const path = join(folder, 'compact.nrw');
    await writeFile(path, makeNrw(await sceneIn(folder)));
    expect(catalogue.canonical('nrw')).toBe('nef');
    expect(await detectFile(path)).toBe('nef');
    const output = await runForPath({ inputs: [path], outputFormat: 'png', folder });
    expect((await compare(await readFile(output), await original(), 'colour')).difference).toBeLessThan(2);
  });

  test('A TIFF that a program made of a camera’s picture stays a TIFF.', async ({ folder }) => {
    const scene = await sceneIn(folder);
    const path = join(folder, 'edited.tif');
    for (const make of ['NIKON CORPORATION', 'SONY', 'PENTAX', 'SAMSUNG', 'Canon']) {
      await writeFile(path, makeTiff(scene, make));
      expect(await detectFile(path, 'edited.tif')).toBe('tiff');
      expect(await detectFile(path, 'edited.nef')).toBe('tiff');
      const output = await runForPath({ inputs: [path], outputFormat: 'png', folder });
      expect((await compare(await readFile(output), await original(), 'colour')).difference).toBeLessThan(1);
    }
  });

  test('A raw file of a make that is not read is not taken for a TIFF.', async ({ folder }) => {
    const path = join(folder, 'other.tif');
    const pef = makePef(await sceneIn(folder)).toString('latin1');
    await writeFile(path, pef.replace('PENTAX Corporation', 'Mamiya            '), 'latin1');
    expect(await detectFile(path)).toBe('mef');
  });

  test('A sensor of billions of pixels is refused before there is memory for it.', async ({ folder }) => {
    const path = join(folder, 'bomb.nef');
    const nef = makeNef(await sceneIn(folder));
    for (const tag of [256, 257]) {
      const at = nef.lastIndexOf(Buffer.from([tag & 255, tag >> 8, 4, 0, 1, 0, 0, 0]));
      nef.writeUInt32LE(60_000, at + 8);
    }
    await writeFile(path, nef);
    const before = process.memoryUsage().rss;
    const { message } = await refusal(path, 'nef', folder);
    expect(message).toMatch(/more than 100 million pixels/);
    expect(process.memoryUsage().rss - before).toBeLessThan(500 * 1024 * 1024);
  });
});
