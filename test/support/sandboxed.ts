import { copyFile, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { InputFile, Work, WorkContext, WorkResult } from '../../functions/engines/runtime/engine.ts';
import type { Sandbox } from '../../functions/engines/runtime/sandbox/sandbox.ts';

const tenant = 'one tenant';

/** A context that aborts nothing and reports to nobody. */
export function quietContext(): WorkContext {
  return { signal: new AbortController().signal, progress: () => {}, log: () => {} };
}

/** Runs work in a sandbox on copies of its inputs, as the engine's function does with what it fetched. The outputs last until the next work. */
export async function runSandboxed(
  sandbox: Sandbox,
  work: Omit<Work, 'folder'>,
  context: WorkContext = quietContext(),
): Promise<WorkResult> {
  const folder = sandbox.prepare(tenant);
  await mkdir(join(folder, 'in'));
  const inputs = await Promise.all(
    work.inputs.map(async (input, index): Promise<InputFile> => {
      const path = join(folder, 'in', `${index}-${basename(input.path)}`);
      await copyFile(input.path, path);
      return { ...input, path };
    }),
  );
  return sandbox.run({ ...work, inputs, folder }, context, tenant);
}
