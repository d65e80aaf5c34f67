import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import { colourAt, distance, red, twoHalves } from '../../../support/images.ts';
import { Example } from '../example.ts';
import type { Check } from '../tools.ts';

export const check: Check = async (tools) => {
  await using example = new Example('agent-mcp');
  example.installNpm();
  const service = await tools.service();
  const env = { ...process.env, LATHE_URL: service.url, LATHE_API_KEY: service.apiKey };
  await writeFile(example.file('picture.png'), await twoHalves(60, 40));
  await writeFile(example.file('broken.png'), 'not a picture');
  const agent = (...args: string[]) => example.run(process.execPath, ['agent.ts', ...args], { env });

  for (const mode of ['stdio', 'http']) {
    const output = example.file(`${mode}.webp`);
    const { status, stdout, stderr } = await agent(mode, example.file('picture.png'), output);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^Tools: .*convert.*\n\{.*"outputs":/);
    const image = await readFile(output);
    assert.equal((await sharp(image).metadata()).format, 'webp');
    assert.ok(distance(await colourAt(image, 0.2, 0.5), red) < 20);

    const failed = await agent(mode, example.file('broken.png'), example.file('none.webp'));
    assert.equal(failed.status, 1);
    assert.match(failed.stderr, /processing_failed/);
  }
  const outside = await agent('stdio', example.file('picture.png'), '/outside.webp');
  assert.equal(outside.status, 1);
  assert.match(outside.stderr, /outside|root/i);
  return 'a picture converted over stdio and HTTP; failures and a path outside the folder reported';
};
