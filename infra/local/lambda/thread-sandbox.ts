import { Worker } from 'node:worker_threads';
import type { LocalFunction } from '../template/model.ts';
import { describeFunction, environmentFor } from './environment.ts';
import { readLines } from './lines.ts';
import type { RuntimeOptions } from './options.ts';
import { isReport } from './protocol.ts';
import { Sandbox } from './sandbox.ts';

/** Below this a thread cannot load unbundled modules, though the bundled function fits its memory in Lambda. */
const SMALLEST_HEAP_MEGABYTES = 128;

/** Starts a thread that holds the handler of a zip function. */
export function startThread(fn: LocalFunction, { environmentOf, log }: RuntimeOptions): Sandbox {
  const description = describeFunction(fn);
  const { NODE_OPTIONS: nodeOptions, ...env } = environmentFor(fn, description, environmentOf(fn));
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    env,
    workerData: description,
    execArgv: [],
    argv: [],
    stdout: true,
    stderr: true,
    name: fn.name,
    resourceLimits: {
      maxOldGenerationSizeMb: Math.max(fn.memoryMegabytes, SMALLEST_HEAP_MEGABYTES),
      ...youngGeneration(nodeOptions),
    },
  });
  const sandbox = new Sandbox(
    fn.timeoutSeconds,
    { send: (invocation) => worker.postMessage(invocation), kill: () => void worker.terminate() },
    (line) => log(fn, 'stderr', line),
  );
  readLines(worker.stdout, (line) => log(fn, 'stdout', line));
  readLines(worker.stderr, (line) => log(fn, 'stderr', line));
  let reason: string | undefined;
  worker.on('message', (message: unknown) => {
    if (isReport(message)) sandbox.receive(message);
  });
  worker.on('error', (error) => {
    reason = `with error: ${error instanceof Error ? error.message : String(error)}`;
  });
  worker.once('exit', (code) => {
    sandbox.exited(reason ?? (code === 0 ? 'without providing a reason' : `with error: exit status ${code}`));
  });
  return sandbox;
}

/** Reads from a function's NODE_OPTIONS the one that a thread takes too, in its own way: of options for V8 it refuses to start. */
function youngGeneration(nodeOptions = ''): { maxYoungGenerationSizeMb?: number } {
  const semiSpace = /--max-semi-space-size=(\d+)/.exec(nodeOptions)?.[1];
  // The young generation is three of these.
  return semiSpace === undefined ? {} : { maxYoungGenerationSizeMb: 3 * Number(semiSpace) };
}
