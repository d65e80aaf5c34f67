import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { projectRoot } from '../../../../infra/bundling.ts';
import { twoHalves } from '../../../support/images.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';

const lathe = join(projectRoot, 'node_modules/.bin/lathe');

export const check: Check = async (tools) => {
  await using example = new Example('batch-cli');
  const service = await tools.service();
  const names = ['a.png', "b's picture.png", 'below/größe.png'];
  await mkdir(example.file('in', 'below'), { recursive: true });
  for (const name of names) await writeFile(example.file('in', name), await twoHalves(60, 40));
  await writeFile(example.file('in', 'broken.png'), 'not a picture');
  // A service that cannot be reached when the first file is converted.
  const flaky = example.file('flaky');
  await writeFile(
    flaky,
    `#!/bin/sh
if [ "$1" = convert ] && mkdir '${example.file('failed-once')}' 2>/dev/null; then exit 3; fi
exec '${lathe}' "$@"
`,
  );
  await chmod(flaky, 0o755);
  const env = { ...process.env, LATHE_URL: service.url, LATHE_API_KEY: service.apiKey, BACKOFF_SECONDS: '0' };
  const batch = (own: NodeJS.ProcessEnv, ...args: string[]) =>
    example.run(join(example.folder, 'batch'), args, { env: { ...env, LATHE_COMMAND: lathe, ...own } });
  const args = [example.file('in'), 'webp', example.file('out'), '2'];

  const first = await batch({ LATHE_COMMAND: flaky }, ...args);

  assert.equal(first.status, 1, first.stderr);
  assert.match(first.stderr, /^3 converted, 0 unchanged, 1 failed; see /m);
  assert.match(first.stderr, /broken\.png: processing_failed: /);
  const lines = first.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ type, input }) => `${type} ${input}`).sort(),
    [
      ...names.map((name) => `converted ${example.file('in', name)}`),
      `failed ${example.file('in', 'broken.png')}`,
    ].sort(),
  );
  assert.equal(lines.filter(({ attempts }) => attempts === 2).length, 1, first.stdout);
  assert.equal(await readFile(example.file('out', 'results.jsonl'), 'utf8'), first.stdout);
  for (const name of names) {
    const { format, width } = await sharp(await readFile(example.file('out', `${name}.webp`))).metadata();
    assert.deepEqual([format, width], ['webp', 60]);
  }

  await rm(example.file('in', 'broken.png'));
  const second = await batch({}, ...args);
  assert.deepEqual([second.status, second.stderr.split(';')[0]], [0, '0 converted, 3 unchanged, 0 failed']);
  assert.equal((await batch({ LATHE_API_KEY: 'wrong' }, ...args)).status, 3);
  assert.equal((await batch({ LATHE_URL: 'http://127.0.0.1:9' }, ...args)).status, 3);
  assert.equal((await batch({}, example.file('none'), 'webp', example.file('out'))).status, 2);
  return '3 of 4 files converted, one at its second attempt; exit codes 0, 1, 2 and 3';
};
