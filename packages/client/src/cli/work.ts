import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { LatheError } from '../errors.ts';
import type { Lathe } from '../lathe.ts';
import { exists, type OutputNames } from '../node/paths.ts';
import { describe, isUnavailable } from '../node/problems.ts';
import type { PerformOptions, RunResult } from '../run.ts';
import { isWebAddress } from '../source.ts';
import type { ResultFile } from '../types.ts';
import { flagOf } from './options.ts';
import type { Planned } from './plan.ts';
import type { Outcome, Reporter } from './reporter.ts';
import { isStandard, writeStandard } from './standard-streams.ts';
import type { Output } from './terminal.ts';
import { UsageError } from './usage.ts';

/** Converts an input. */
export type Run = (options: PerformOptions) => Promise<RunResult>;

export interface WorkOptions {
  lathe: Lathe;
  reporter: Reporter;
  /** The output paths of this command. */
  names: OutputNames;
  signal: AbortSignal;
  force: boolean;
  /** Takes the content of an output that is standard output. */
  out: Output['out'];
}

/** Converts one input, writes its files and reports the result; only throws errors that end the command. */
export async function work(planned: Planned, run: Run, options: WorkOptions): Promise<Outcome['type']> {
  const { input, inputs = [input], output } = planned;
  const { signal, reporter } = options;
  const began = performance.now();
  try {
    const absent = inputs.find((path) => !isStandard(path) && !isWebAddress(path) && !exists(path));
    if (absent !== undefined) throw new LatheError('no_such_file', `The file ${absent} does not exist.`);
    refuseExisting([output], inputs, options);
    const progress = reporter.progress?.bind(reporter, input);
    progress?.({ stage: 'processing', percent: undefined });
    const { job, files, warnings } = await run({ signal, onProgress: progress });
    const outputs = isStandard(output) ? [output] : options.names.take(input, output, files.length);
    if (isStandard(output)) await writeStandard(options.lathe, files, options.out, signal);
    else await writeFiles(files, outputs, inputs, options);
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const seconds = Math.round(performance.now() - began) / 1000;
    const notes = warnings.length > 0 ? { warnings } : {};
    reporter.end({ type: 'converted', input, outputs, bytes, seconds, ...(job ? { job: job.id } : {}), ...notes });
    return 'converted';
  } catch (error) {
    if (signal.aborted || isUnavailable(error)) throw error;
    if (error instanceof UsageError) throw error;
    const { errorCode, msg } = describe(error, flagOf);
    reporter.end({ type: 'failed', input, errorCode, msg });
    return 'failed';
  }
}

async function writeFiles(
  files: ResultFile[],
  outputs: string[],
  inputs: string[],
  options: WorkOptions,
): Promise<void> {
  refuseExisting(outputs, inputs, options);
  for (const [index, file] of files.entries()) {
    const path = outputs[index] ?? '';
    await makeFolder(dirname(path));
    await options.lathe.download(file, path, { signal: options.signal, overwrite: options.force });
  }
}

/** Creates a folder for outputs. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    const { errorCode, msg } = describe(error);
    const reason = errorCode === 'EEXIST' || errorCode === 'ENOTDIR' ? 'a file with that name exists.' : msg;
    throw new LatheError('no_folder', `The folder ${path} cannot be created: ${reason}`, { cause: error });
  }
}

function refuseExisting(paths: string[], inputs: string[], { force }: WorkOptions): void {
  const outputs = paths.filter((path) => !isStandard(path));
  if (outputs.some((path) => inputs.some((input) => resolve(path) === resolve(input))))
    throw new LatheError('same_file', 'The output would overwrite its input. Choose another with OUTPUT or --out.');
  const taken = force ? undefined : outputs.find(exists);
  if (taken !== undefined) throw new LatheError('exists', `${taken} already exists. Use --force to overwrite it.`);
}
