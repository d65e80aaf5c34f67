import { copyFile, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { catalogue } from '../../../functions/engines/media/catalogue.ts';
import { engine } from '../../../functions/engines/media/run.ts';
import type { WorkResult } from '../../../functions/engines/runtime/engine.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions } from '../../../shared/catalogue/options.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { quietContext } from '../../support/sandboxed.ts';

export const media = new Catalogue([catalogue]);

const folders: string[] = [];

afterAll(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Makes a folder for a test's files, which is removed when the tests of its file have ended. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'media-test-'));
  folders.push(folder);
  return folder;
}

/** Writes a file into a folder of its own, which is removed as above. */
export async function testFile(name: string, content: Uint8Array | string): Promise<string> {
  const path = join(await testFolder(), name);
  await writeFile(path, content);
  return path;
}

export interface Ran extends WorkResult {
  path: string;
  progress: number[];
}

/** Runs the engine on a file as a worker does: without an extension, options checked and defaults filled in. */
export async function run(
  operation: ProcessingOperation,
  input: { path: string; format: string; name?: string },
  outputFormat: string,
  options: Record<string, unknown> = {},
): Promise<Ran> {
  const match = media.find(operation, input.format, outputFormat);
  if (!match) throw new Error(`The catalogue has no ${operation} of ${input.format} to ${outputFormat}.`);
  const { values, errors } = checkOptions(match.capability.options, options);
  if (Object.keys(errors).length > 0) throw new Error(JSON.stringify(errors));
  const folder = await testFolder();
  await mkdir(join(folder, 'in'));
  const path = join(folder, 'in', '0');
  await copyFile(input.path, path);
  const progress: number[] = [];
  const { size } = await stat(path);
  const result = await engine.run(
    {
      operation,
      inputs: [{ path, name: input.name ?? `sample.${input.format}`, format: input.format, size }],
      outputFormat,
      options: values,
      folder,
    },
    { ...quietContext(), progress: (percent) => progress.push(percent) },
  );
  return { ...result, path: result.outputs[0]?.path ?? '', progress };
}
