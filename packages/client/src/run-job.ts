import { JobFailedError } from './errors.ts';
import { isOver } from './follow.ts';
import {
  type GivenFile,
  haveAtMost,
  importOf,
  type LooseTask,
  type ProcessingTask,
  type Runner,
  type RunOptions,
  type RunProgress,
  type RunResult,
  resultOf,
  sourcesOf,
} from './run.ts';
import { base64Of, blobOf, extensionIn, nameIn } from './source.ts';
import { newIdempotencyKey } from './transport.ts';
import type { Job } from './types.ts';

/** Time to cancel a job after an abort. */
const cancelMs = 10_000;
/** The maximum of the service for a file within a task. */
const maxInlineBytes = 1_000_000;

/** Performs an operation by a job with one processing task, waits for its end, and returns its files. */
export async function runJob(
  lathe: Runner,
  given: GivenFile[],
  process: ProcessingTask,
  options: RunOptions,
): Promise<RunResult> {
  const { signal, tag, onJob, onProgress } = options;
  const imports = await importsOf(given, options);
  if (imports.some(isUpload)) await checkNames(lathe, given, process, signal);
  const { names, fields } = namesOf(given);
  const tasks: Record<string, LooseTask> = {
    ...Object.fromEntries(imports.map((task, index) => [names[index], task])),
    process: { ...process, ...fields },
    export: { operation: 'export/url', input: 'process' },
  };
  const isHeld = !onJob && !onProgress && !imports.some(isUpload);
  const idempotencyKey = newIdempotencyKey();
  const create = (waitSeconds: number, own = signal) =>
    lathe.createAnyJob({ tasks, tag }, { idempotencyKey, waitSeconds, signal: own });
  const job = await create(isHeld ? lathe.waitSeconds : 0).catch(async (error: unknown) => {
    // The request may have created the job. With the same key, it returns that one.
    if (signal?.aborted) await cancel(lathe, create(0, AbortSignal.timeout(cancelMs)));
    throw error;
  });
  return orCancel(lathe, job, async () => {
    onJob?.(job);
    const own = new AbortController();
    const both = signal ? AbortSignal.any([signal, own.signal]) : own.signal;
    try {
      const ending = endOf(lathe, job, process, both, onProgress);
      const [result] = await Promise.all([ending, uploadAll(lathe, job, given, { ...options, signal: both })]);
      return result;
    } catch (error) {
      own.abort(error);
      throw error;
    }
  });
}

/** Returns the names of the imports, and the fields of the operation that name them. */
function namesOf(given: GivenFile[]): { names: string[]; fields: Record<string, string[]> } {
  const names = given.map((file) => {
    const same = given.filter(({ role }) => role === file.role);
    const { role = 'import' } = file;
    return same.length === 1 ? role : `${role}-${same.indexOf(file) + 1}`;
  });
  const fields: Record<string, string[]> = {};
  for (const [index, { role = 'input' }] of given.entries())
    fields[role] = [...(fields[role] ?? []), names[index] ?? ''];
  return { names, fields };
}

/** Checks the names of options if the names of the inputs say what they are. */
async function checkNames(
  lathe: Runner,
  given: GivenFile[],
  { operation, input_format: format, output_format: to, options }: ProcessingTask,
  signal: AbortSignal | undefined,
): Promise<void> {
  const worked = given.filter(({ role }) => role === undefined);
  const from = worked.map(({ input, about }) => format ?? extensionIn(about.filename ?? nameIn(input)));
  if (from.includes('')) return;
  if (Object.keys(options).length > 0) {
    // Loaded on demand: many conversions have no options.
    const { checkOptionNames } = await import('./option-names.ts');
    await checkOptionNames(lathe, { operation, from, to, options }, { signal });
  }
}

/** Cancels a job if something fails other than the job. Otherwise it would wait an hour for a failed upload. */
async function orCancel<T>(lathe: Runner, job: Job, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof JobFailedError)) await cancel(lathe, job);
    throw error;
  }
}

/** Cancels a job, if possible: only the error before that matters to the caller. */
async function cancel(lathe: Runner, job: Job | Promise<Job>): Promise<void> {
  try {
    await lathe.cancel(await job, { signal: AbortSignal.timeout(cancelMs) });
  } catch {
    // The job ends by itself when its upload or its time is over.
  }
}

/** Waits for the end of a job, and returns its result. */
async function endOf(
  lathe: Runner,
  job: Job,
  process: LooseTask,
  signal: AbortSignal | undefined,
  onProgress: RunOptions['onProgress'],
): Promise<RunResult> {
  const end = isOver(job)
    ? job
    : await (onProgress ? watch(lathe, job, process, signal, onProgress) : lathe.wait(job, { signal }));
  if (end.status !== 'completed') throw new JobFailedError(end);
  onProgress?.({ stage: 'done' });
  // Only the response to the creation has the warnings about the request.
  return resultOf({ ...job, ...end });
}

/** Waits for the end of a job that the service has made of a request. */
export function finishJob(
  lathe: Runner,
  job: Job,
  process: ProcessingTask,
  { signal, onProgress }: RunOptions,
): Promise<RunResult> {
  return orCancel(lathe, job, () => endOf(lathe, job, process, signal, onProgress));
}

/** Returns the tasks that import inputs. Small files are in the tasks, unless the progress of uploads is wanted. */
async function importsOf(given: GivenFile[], { onJob, onProgress, webpage }: RunOptions): Promise<LooseTask[]> {
  if (onJob || onProgress || !(await haveAtMost(maxInlineBytes, given)))
    return given.map(({ input, role }) => importOf(input, role === undefined && webpage));
  return Promise.all(
    (await sourcesOf(given)).map(async (source) => ({
      operation: 'import/base64',
      file: `data:application/octet-stream;base64,${await base64Of(await blobOf(source))}`,
      filename: source.name,
    })),
  );
}

function isUpload({ operation }: { operation: string }): boolean {
  return operation === 'import/upload';
}

async function uploadAll(
  lathe: Runner,
  job: Job,
  given: GivenFile[],
  { signal, onProgress }: Pick<RunOptions, 'signal' | 'onProgress'>,
): Promise<void> {
  for (const [index, { input, about }] of given.entries()) {
    const task = job.tasks?.[index];
    if (!task || !isUpload(task)) continue;
    await lathe.upload(task, input, {
      signal,
      ...about,
      onProgress: onProgress && ((progress) => onProgress({ stage: 'uploading', ...progress })),
    });
  }
  onProgress?.({ stage: 'processing', percent: undefined });
}

async function watch(
  lathe: Runner,
  job: Job,
  { operation }: LooseTask,
  signal: AbortSignal | undefined,
  onProgress: (progress: RunProgress) => void,
): Promise<Job> {
  for await (const happened of lathe.follow(job, { signal }))
    if ('task' in happened && happened.task.operation === operation)
      onProgress({ stage: 'processing', percent: happened.task.progress });
  return lathe.job(job.id, { signal });
}
