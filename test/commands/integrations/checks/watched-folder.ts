import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { projectRoot } from '../../../../infra/bundling.ts';
import { blue, colourAt, distance, red, twoHalves } from '../../../support/images.ts';
import { until } from '../../../support/until.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';

export const check: Check = async (tools) => {
  await using example = new Example('watched-folder');
  const service = await tools.service();
  const env = {
    ...process.env,
    LATHE_URL: service.url,
    LATHE_API_KEY: service.apiKey,
    LATHE_COMMAND: join(projectRoot, 'node_modules/.bin/lathe'),
    LATHE_WATCH_FOLDER: example.file('watched'),
    LATHE_WATCH_FORMAT: 'webp',
  };
  const file = (...names: string[]) => example.file('watched', ...names);
  await mkdir(file('inbox'), { recursive: true });
  const script = join(example.folder, 'lathe-watch');
  const watching = await example.start(script, [], '', { env });
  await writeFile(file('inbox', 'two halves.png'), await twoHalves(60, 40));
  await writeFile(file('inbox', 'broken.png'), 'not a picture');

  await until('both files have left the inbox', async () => (await readdir(file('inbox'))).length === 0, {
    seconds: 300,
  });
  await until('the reason is written', () => existsSync(file('failed', 'broken.png.json')));
  const image = await readFile(file('outbox', 'two halves.webp'));
  assert.equal((await sharp(image).metadata()).format, 'webp');
  assert.ok(distance(await colourAt(image, 0.2, 0.5), red) < 20);
  assert.deepEqual(await readdir(file('done')), ['two halves.png']);
  const reason = JSON.parse(await readFile(file('failed', 'broken.png.json'), 'utf8'));
  assert.equal(reason.errorCode, 'processing_failed');

  // A file of the same name, with other content, replaces the output; its original does not replace the first one.
  await writeFile(
    file('inbox', 'two halves.png'),
    await sharp(await twoHalves(60, 40))
      .rotate(180)
      .png()
      .toBuffer(),
  );
  await until('the second original is there', () => existsSync(file('done', '2-two halves.png')), { seconds: 300 });
  assert.ok(distance(await colourAt(await readFile(file('outbox', 'two halves.webp')), 0.2, 0.5), blue) < 20);

  await watching[Symbol.asyncDispose]();
  const lines = watching
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  assert.deepEqual(lines.map((line) => JSON.parse(line).type).sort(), ['converted', 'converted', 'failed']);

  // The unit names a path of a machine that has it installed.
  await copyFile(join(example.folder, 'lathe-watch.service'), example.file('lathe-watch.service'));
  const unit = await readFile(example.file('lathe-watch.service'), 'utf8');
  await writeFile(example.file('lathe-watch.service'), unit.replace('/usr/local/bin/lathe-watch', script));
  const verified = await example.run('systemd-analyze', ['verify', example.file('lathe-watch.service')]);
  assert.deepEqual([verified.status, verified.stderr], [0, '']);
  return '2 files converted and 1 moved to failed with its reason; systemd-analyze accepts the unit';
};
