import { createReadStream, createWriteStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { InputFile, Work, WorkContext, WorkResult } from '../../functions/engines/runtime/engine.ts';
import type { PreparedTask, Sandbox } from '../../functions/engines/runtime/sandbox/sandbox.ts';

const tenant = 'one tenant';

/** Returns a context that never aborts, and ignores reports. */
export function quietContext(): WorkContext {
  return { signal: new AbortController().signal, progress: () => {}, log: () => {}, limitProcessorTime: () => {} };
}

/**
 * Runs work in a sandbox on copies of its inputs, as the engine's function does with fetched files. The outputs last
 * until the next work.
 */
export async function runSandboxed(
  sandbox: Sandbox,
  work: Omit<Work, 'folder'>,
  context: WorkContext = quietContext(),
): Promise<WorkResult> {
  const task = sandbox.prepare(tenant);
  const inputs = await Promise.all(
    work.inputs.map(
      async (input, index): Promise<InputFile> => ({
        ...input,
        path: await giveInput(task, input.path, `${index}-${basename(input.path)}`),
      }),
    ),
  );
  return sandbox.run({ ...work, inputs, folder: task.folder }, context, tenant);
}

/** Copies a file to the inputs of a task and returns its new path. */
export async function giveInput(task: PreparedTask, source: string, name: string): Promise<string> {
  const { path, descriptor } = task.createInput(name);
  await pipeline(createReadStream(source), createWriteStream('', { fd: descriptor }));
  return path;
}
