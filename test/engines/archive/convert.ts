import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { engine } from '../../../functions/engines/archive/run.ts';
import type { OutputFile, WorkContext } from '../../../functions/engines/runtime/engine.ts';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { quietContext } from '../../support/sandboxed.ts';

/** Makes a folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'archive-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export const quiet: WorkContext = quietContext();

/** Converts one file with the engine, in a task folder of its own. */
export async function convert(
  path: string,
  format: string,
  outputFormat: string,
  options: OptionValues = {},
  context: WorkContext = quiet,
): Promise<OutputFile> {
  const folder = await mkdtemp(join(path, '..', 'task-'));
  const { size } = await stat(path);
  const input = { path, name: basename(path), format, size };
  const result = await engine.run({ operation: 'convert', inputs: [input], outputFormat, options, folder }, context);
  const [output] = result.outputs;
  if (!output) throw new Error('The engine returned no output.');
  return output;
}
