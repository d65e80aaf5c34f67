import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { parse } from 'parse5';
import sharp from 'sharp';
import { blue, colourAt, distance, red, twoHalves } from '../../../support/images.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';

export const check: Check = async (tools) => {
  await using example = new Example('photo-gallery');
  example.installNpm();
  const service = await tools.service();
  const env = { ...process.env, LATHE_URL: service.url, LATHE_API_KEY: service.apiKey };
  const names = ['beach.jpg', 'größe & "more".png', 'phone.HEIC'];
  const picture = await twoHalves(2400, 1600);
  await tools.run('mkdir', ['-p', example.file('photos')]);
  await writeFile(example.file('photos', 'beach.jpg'), await sharp(picture).jpeg().toBuffer());
  await writeFile(example.file('photos', 'größe & "more".png'), picture);
  tools.run('heif-enc', [example.file('photos', 'beach.jpg'), '-o', example.file('photos', 'phone.HEIC')]);
  await writeFile(example.file('photos', 'broken.jpg'), 'not a picture');
  await writeFile(example.file('photos', 'list.txt'), 'not a photo');
  const gallery = () =>
    example.run(process.execPath, ['gallery.ts', example.file('photos'), example.file('site')], { env });

  const first = await gallery();

  assert.equal(first.status, 1, first.stderr);
  assert.match(first.stderr, /^broken\.jpg: processing_failed: /m);
  assert.match(first.stdout, /^3 of 4 photos are in/);
  const page = await readFile(example.file('site', 'index.html'), 'utf8');
  parse(page, { onParseError: ({ code }) => assert.fail(`The page has an error: ${code}`) });
  const links = [...page.matchAll(/(href|src)="([^"]+)"/g)].map(([, kind, link = '']) => [
    kind,
    decodeURIComponent(link),
  ]);
  assert.deepEqual(
    links,
    names.flatMap((name) => [
      ['href', `large/${name}.webp`],
      ['src', `small/${name}.webp`],
    ]),
  );
  for (const [kind, link = ''] of links) {
    const image = await readFile(example.file('site', link));
    const { format, width, height, exif } = await sharp(image).metadata();
    assert.deepEqual([format, width, height], kind === 'href' ? ['webp', 2048, 1365] : ['webp', 480, 320]);
    assert.equal(exif, undefined, `${link} has metadata`);
    assert.ok(distance(await colourAt(image, 0.2, 0.5), red) < 20, link);
    assert.ok(distance(await colourAt(image, 0.8, 0.5), blue) < 20, link);
  }

  await rm(example.file('photos', 'broken.jpg'));
  const before = await stat(example.file('site', 'small', 'beach.jpg.webp'));
  const second = await gallery();
  assert.equal(second.status, 0, second.stderr);
  const after = await stat(example.file('site', 'small', 'beach.jpg.webp'));
  assert.equal(after.mtimeMs, before.mtimeMs, 'A photo that did not change was converted again.');
  assert.equal((await readdir(example.file('site', 'small'))).length, 3);
  return '3 photos (HEIC, JPEG, PNG) in 2 sizes decoded, 1 broken photo reported, none converted twice';
};
