import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { engine as archive } from '../../functions/engines/archive/run.ts';
import { Outputs } from '../../functions/engines/runtime/outputs.ts';
import { quietContext } from '../support/sandboxed.ts';

let folder: string;
let path: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'outputs-test-'));
  path = join(folder, 'file');
  await writeFile(path, 'ten bytes.');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const output = () => ({ path, name: 'file', format: 'txt' });

it('takes outputs up to their number and bytes, and says what to do beyond', async () => {
  const counted = new Outputs({});
  await counted.add(...Array.from({ length: 500 }, output));
  await expect(counted.add(output())).rejects.toThrow(
    'This would produce 501 files; the maximum per task is 500. Split the inputs across several tasks.',
  );

  const weighed = new Outputs({ maxOutputBytes: 20 });
  await weighed.add(output(), output());
  expect(weighed).toMatchObject({ bytesLeft: 0, files: [output(), output()] });
  await expect(weighed.add(output())).rejects.toThrow(/exceed the 20 bytes of disk space that one task has/);
});

it('refuses archives for whose contents the disk has no room, before it unpacks any', async () => {
  const work = {
    operation: 'convert' as const,
    inputs: [{ path, name: 'a.zip', format: 'zip', size: 5_000_000 }],
    outputFormat: 'tar',
    options: {},
    maxOutputBytes: 2_000_000_000,
    folder,
  };
  const context = quietContext();
  await expect(archive.run(work, context)).rejects.toThrow(/not enough disk space for the archives of this task/);
});
