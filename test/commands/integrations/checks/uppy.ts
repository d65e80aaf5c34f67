import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import { colourAt, distance, photograph, red, twoHalves } from '../../../support/images.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';
import { withUploadPage } from '../upload-page.ts';

export const check: Check = async (tools) => {
  await using example = new Example('uppy');
  example.installNpm();
  await example.succeed('npm', ['run', 'build']);
  await writeFile(example.file('picture.png'), await twoHalves(60, 40));
  await writeFile(example.file('broken.png'), 'not a picture');
  // Above the 5 MiB of a part, so that it would be sent in parts if the page did not say otherwise.
  await writeFile(example.file('photo.png'), await photograph(1600, 1200));

  await withUploadPage(tools, example, async ({ url, requests, convert, result }) => {
    assert.equal(await convert(example.file('picture.png'), 'webp'), 'Download picture.webp');
    const image = await result();
    assert.equal((await sharp(image).metadata()).format, 'webp');
    assert.ok(distance(await colourAt(image, 0.2, 0.5), red) < 20);
    assert.ok(
      requests.some((request) => request.url().includes('/s3/params')),
      'Uppy did not use the endpoint.',
    );

    assert.equal(await convert(example.file('photo.png'), 'webp'), 'Download photo.webp');
    const { width, height } = await sharp(await result()).metadata();
    assert.deepEqual([width, height], [1600, 1200]);

    assert.match(await convert(example.file('broken.png'), 'webp'), /looks like|not a|cannot|could not/i);
    const unknown = await fetch(`${url}/conversions/00000000-0000-0000-0000-000000000000`);
    assert.equal(unknown.status, 404);
    assert.equal((await fetch(`${url}/conversions?to=exe`, { method: 'POST' })).status, 400);
  });
  return '2 pictures uploaded by Uppy in Chromium, converted and decoded; a broken one explained';
};
