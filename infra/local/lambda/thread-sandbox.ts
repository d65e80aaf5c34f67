import { Worker } from 'node:worker_threads';
import type { LocalFunction } from '../template/model.ts';
import { describeFunction, environmentFor } from './environment.ts';
import { readLines } from './lines.ts';
import type { RuntimeOptions } from './options.ts';
import { isReport } from './protocol.ts';
import { Sandbox } from './sandbox.ts';

/** Below this a thread cannot load unbundled modules, though the bundled function fits its memory in Lambda. */
const MIN_HEAP_MEGABYTES = 128;

/**
 * V8 lets the young generation of every heap grow to 96 MB, of which little is ever in use here. With a thread
 * for each function that would be most of this process; a few megabytes do not collect notably more often.
 */
const SEMI_SPACE_MEGABYTES = 4;

/** Starts a thread that holds the handler of a zip function. */
export function startThread(fn: LocalFunction, { environmentOf, log }: RuntimeOptions): Sandbox {
  const description = describeFunction(fn);
  const { NODE_OPTIONS: nodeOptions, ...env } = environmentFor(fn, description, environmentOf(fn));
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    // Set from the start of the thread, so that its bootstrap too comes from the cache: without one module to strip
    // of its types, Node does not load its parser for them, which takes 10 MB of each thread.
    env: { ...env, NODE_COMPILE_CACHE: description.compileCache },
    workerData: description,
    execArgv: [],
    argv: [],
    stdout: true,
    stderr: true,
    name: fn.name,
    resourceLimits: {
      maxOldGenerationSizeMb: Math.max(fn.memoryMegabytes, MIN_HEAP_MEGABYTES),
      maxYoungGenerationSizeMb: youngGeneration(nodeOptions),
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
function youngGeneration(nodeOptions = ''): number {
  const semiSpace = Number(/--max-semi-space-size=(\d+)/.exec(nodeOptions)?.[1] ?? SEMI_SPACE_MEGABYTES);
  // The young generation is three of these.
  return 3 * semiSpace;
}
