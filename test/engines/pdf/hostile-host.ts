import { chmod, copyFile, mkdtemp, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { catalogue } from '../../../functions/engines/pdf/catalogue.ts';
import { EngineError, type InputFile, type Work } from '../../../functions/engines/runtime/engine.ts';
import { Sandbox } from '../../../functions/engines/runtime/sandbox/sandbox.ts';
import { giveInput } from '../../support/sandboxed.ts';

/** Work for this process, which simulates the function of the engine. It comes by standard input: arguments have a limit that certificates exceed. */
export interface HostRequest {
  works: Omit<Work, 'folder'>[];
  /** Where outputs are kept for the test. */
  folder: string;
}

export interface HostOutcome {
  seconds: number;
  outputs?: string[];
  refusal?: string;
  /** An error that is a bug. */
  failure?: string;
}

const maxSeconds = 60;
const { works, folder }: HostRequest = JSON.parse(await text(process.stdin));
const sandbox = new Sandbox({
  module: new URL('../../../functions/engines/pdf/run.ts', import.meta.url),
  memoryBytes: catalogue.resources.memoryMegabytes * 1024 ** 2,
  network: false,
});

async function perform(work: Omit<Work, 'folder'>): Promise<Partial<HostOutcome>> {
  const task = sandbox.prepare('tenant');
  let number = 0;
  const give = async <File extends InputFile>(file: File): Promise<File> => {
    const path = await giveInput(task, file.path, String(number++));
    return { ...file, path, size: (await stat(path)).size };
  };
  const given = {
    ...work,
    inputs: await Promise.all(work.inputs.map(give)),
    ...(work.others ? { others: await Promise.all(work.others.map(give)) } : {}),
    folder: task.folder,
    maxOutputBytes: 500_000_000,
    maxProcessorSeconds: maxSeconds,
  };
  const context = { signal: AbortSignal.timeout(2 * maxSeconds * 1000), progress: () => {}, log: () => {} };
  const { outputs } = await sandbox.run(given, context, 'tenant');
  const kept = await mkdtemp(join(folder, 'kept-'));
  await chmod(kept, 0o755);
  return {
    outputs: await Promise.all(
      outputs.map(async ({ path, format }, index) => {
        const copy = join(kept, `${index}.${format}`);
        await copyFile(path, copy);
        return copy;
      }),
    ),
  };
}

try {
  for (const work of works) {
    const start = performance.now();
    const result = await perform(work).catch(
      (error: unknown): Partial<HostOutcome> =>
        error instanceof EngineError ? { refusal: error.message } : { failure: String(error) },
    );
    sandbox.endTask();
    const outcome: HostOutcome = { seconds: (performance.now() - start) / 1000, ...result };
    process.stdout.write(`${JSON.stringify(outcome)}\n`);
  }
} finally {
  sandbox.stop();
}
