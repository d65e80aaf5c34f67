import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { test } from './folder-test.ts';
import { program } from './programs.ts';
import { detectFile, type Run, runEngine, runForPath } from './run-engine.ts';
import { makeSample } from './samples.ts';

async function failureOf(run: Run): Promise<EngineError> {
  const outcome: unknown = await runEngine(run).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(EngineError);
  if (!(outcome instanceof EngineError)) throw new Error('The engine did not refuse.');
  return outcome;
}

describe('Bad inputs', { timeout: 30_000 }, () => {
  test.for(['jpg', 'png', 'gif', 'webp', 'tiff', 'bmp', 'psd', 'svg', 'heic', 'eps', 'exr', 'hdr'])(
    'An empty file said to be %s is refused as empty.',
    async (format, { folder }) => {
      const path = join(folder, `empty.${format}`);
      await writeFile(path, '');
      const { message } = await failureOf({ inputs: [path], formats: [format], outputFormat: 'png', folder });
      expect(message).toMatch(/is empty/);
    },
  );

  test.for(['jpg', 'png', 'webp', 'avif', 'apng', 'heic', 'jxl', 'bmp', 'tga', 'psd', 'qoi', 'exr', 'hdr', 'pict'])(
    'A truncated %s is refused as damaged, with the decoder’s own words for the log.',
    async (format, { folder }) => {
      const sample = await readFile(await makeSample(format, folder));
      const path = join(folder, `half.${format}`);
      await writeFile(path, sample.subarray(0, sample.length >> 1));
      const { message, detail } = await failureOf({
        inputs: [path],
        formats: [format],
        outputFormat: 'webp',
        folder,
      });
      expect(message).toMatch(/damaged, incomplete/);
      expect(message).toContain(`half.${format}`);
      expect(detail).not.toBe('');
    },
  );

  test('A truncated JPEG is refused for a PDF too, although its bytes are copied.', async ({ folder }) => {
    const sample = await readFile(await makeSample('jpg', folder));
    const path = join(folder, 'half.jpg');
    await writeFile(path, sample.subarray(0, sample.length >> 1));
    const { message } = await failureOf({ inputs: [path], outputFormat: 'pdf', folder });
    expect(message).toMatch(/damaged, incomplete/);
  });

  test('A JPEG with stray bytes between its segments, as cameras write, converts.', async ({ folder }) => {
    const sample = await readFile(await makeSample('jpg', folder));
    const path = join(folder, 'stray.jpg');
    await writeFile(path, Buffer.concat([sample.subarray(0, -2), Buffer.from([0, 0, 0, 0]), sample.subarray(-2)]));
    await expect(runForPath({ inputs: [path], outputFormat: 'png', folder })).resolves.toMatch(/png$/);
  });

  test('A file is what it is, not what it is called.', async ({ folder }) => {
    const png = await makeSample('png', folder);
    expect(await detectFile(png, 'picture.jpg')).toBe('png');
    expect(await detectFile(await makeSample('psd', folder), 'picture.tga')).toBe('psd');
    expect(await detectFile(await makeSample('svg', folder), 'picture.png')).toBe('svg');
  });

  test('Text that is called a picture is refused.', async ({ folder }) => {
    for (const format of ['jpg', 'png', 'tga', 'bmp', 'heic', 'svg', 'eps', 'ico']) {
      const path = join(folder, `text.${format}`);
      await writeFile(path, 'This is a letter and not a picture at all. '.repeat(50));
      const { message } = await failureOf({ inputs: [path], formats: [format], outputFormat: 'png', folder });
      expect(message).toMatch(/damaged|no pages|no image/);
    }
  });

  test('A page that is not there is refused with the number of pages.', async ({ folder }) => {
    const sample = await makeSample('png', folder);
    const { message } = await failureOf({ inputs: [sample], outputFormat: 'jpg', options: { page: 2 }, folder });
    expect(message).toMatch(/has one page or frame, so page 2 does not exist/);
  });
});

describe('Merges', { timeout: 30_000 }, () => {
  test('A PDF with a password is refused with what to do, for both outputs.', async ({ folder }) => {
    const pdf = await makeSample('pdf', folder);
    const locked = join(folder, 'locked.pdf');
    await program('qpdf', '--encrypt', 'secret', 'owner', '256', '--', pdf, locked);
    for (const outputFormat of ['pdf', 'gif']) {
      const { message } = await failureOf({ operation: 'merge', inputs: [pdf, locked], outputFormat, folder });
      expect(message).toMatch(/password-protected/);
    }
  });

  test('A damaged PDF is refused by its name.', async ({ folder }) => {
    const broken = join(folder, 'broken.pdf');
    await writeFile(broken, '%PDF-1.7\nnothing of use\n');
    for (const outputFormat of ['pdf', 'gif']) {
      const { message } = await failureOf({ operation: 'merge', inputs: [broken, broken], outputFormat, folder });
      expect(message).toContain('broken.pdf');
    }
  });
});

describe('Crop and compress', { timeout: 60_000 }, () => {
  test('A cut outside of the image is refused with the image’s size.', async ({ folder }) => {
    const sample = await makeSample('png', folder);
    const { message } = await failureOf({
      operation: 'crop',
      inputs: [sample],
      outputFormat: 'png',
      options: { x: 100, y: 0, width: 100, height: 50 },
      folder,
    });
    expect(message).toMatch(/160 × 120/);
  });

  test('A crop without a size is refused.', async ({ folder }) => {
    const sample = await makeSample('png', folder);
    const { message } = await failureOf({ operation: 'crop', inputs: [sample], outputFormat: 'png', folder });
    expect(message).toMatch(/No crop area was given/);
  });

  test('A size that cannot be reached is refused with the smallest that can.', async ({ folder }) => {
    const path = join(folder, 'noise.jpg');
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    await sharp({ create: { width: 600, height: 400, channels: 3, background: '#000', noise } })
      .jpeg({ quality: 95 })
      .toFile(path);
    const size = { compress_image: 'by_size', image_compress_max_filesize: 0.001 };
    const options = { ...size, image_compress_resize: false };
    const { message } = await failureOf({
      operation: 'compress',
      inputs: [path],
      outputFormat: 'jpg',
      options,
      folder,
    });
    expect(message).toMatch(/the smallest possible size is \d+ kB \(\d+ bytes\)/);
  });
});
