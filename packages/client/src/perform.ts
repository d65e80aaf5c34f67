import { LatheError } from './errors.ts';
import { type InstantResult, isJobNeeded, maxInstantBytes } from './instant.ts';
import {
  type GivenFile,
  haveAtMost,
  type LooseTask,
  type ProcessingTask,
  type Runner,
  type RunOptions,
  type RunResult,
  sourcesOf,
} from './run.ts';
import { blobOf, type Input } from './source.ts';
import type { Job, WaitOptions } from './types.ts';

/** Loads what jobs take: most files need none. */
const jobs = () => import('./run-job.ts');

/** Performs an operation on inputs: within one request if they are small, and otherwise by a job. */
export async function run(
  lathe: Runner,
  inputs: Input[],
  process: ProcessingTask,
  options: RunOptions,
): Promise<RunResult> {
  const { signal, onJob, onProgress } = options;
  signal?.throwIfAborted();
  const given = givenFiles(inputs, options);
  const isSmall = await haveAtMost(maxInstantBytes, given);
  const { instant = true, tag, webpage } = options;
  if (!isSmall || !instant || tag !== undefined || webpage)
    return (await jobs()).runJob(lathe, given, process, options);
  onProgress?.({ stage: 'processing', percent: undefined });
  const result = await performInstantly(lathe, process.operation, await formOf(given, process), { signal });
  if (!result) return (await jobs()).runJob(lathe, given, process, options);
  if ('files' in result) {
    onProgress?.({ stage: 'done' });
    return result;
  }
  onJob?.(result);
  return (await jobs()).finishJob(lathe, result, process, options);
}

/** Returns the result, the job that the service has made of the request, or undefined if it takes a new job. */
export async function performInstantly(
  lathe: Pick<Runner, 'instant'>,
  operation: string,
  form: FormData,
  options: WaitOptions,
): Promise<InstantResult | Job | undefined> {
  try {
    return await lathe.instant(operation, form, options);
  } catch (error) {
    if (error instanceof LatheError && isJobNeeded(error.status)) return undefined;
    throw error;
  }
}

function givenFiles(inputs: Input[], { filename, size, files = {} }: RunOptions): GivenFile[] {
  const about = inputs.length === 1 ? { filename, size } : {};
  const others = Object.entries(files).flatMap(([role, own]) =>
    (Array.isArray(own) ? own : [own]).map((input) => ({ input, about: {}, role })),
  );
  return [...inputs.map((input) => ({ input, about, role: undefined })), ...others];
}

async function formOf(
  given: GivenFile[],
  { operation: _operation, options = {}, ...parameters }: LooseTask,
): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) form.set(name, String(value));
  form.set('options', JSON.stringify(options));
  const sources = await sourcesOf(given);
  for (const [index, source] of sources.entries())
    form.append(given[index]?.role ?? 'file', await blobOf(source), source.name);
  return form;
}
