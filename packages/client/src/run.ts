import { JobFailedError } from './errors.ts';
import type { FollowOptions, JobEvent } from './follow.ts';
import { type Input, isWebAddress, type SourceOptions } from './source.ts';
import type { CallOptions, Job, Options, OutputFormat, Progress, ResultFile, Task, TransferOptions } from './types.ts';

/** The progress of a conversion: bytes uploaded, or percent converted. */
export type RunProgress =
  | ({ stage: 'uploading' } & Progress)
  | { stage: 'processing'; percent: number | undefined }
  | { stage: 'done' };

export interface RunOptions extends CallOptions {
  options?: Options | undefined;
  /** Filename of the input, for bytes and streams. */
  filename?: string | undefined;
  /** Size of an input that is a stream. */
  size?: number | undefined;
  /** A label of the job, which `jobs` can filter by. */
  tag?: string | undefined;
  /** Renders URLs as web pages instead of downloading them as files. */
  webpage?: boolean | undefined;
  onJob?: ((job: Job) => void) | undefined;
  onProgress?: ((progress: RunProgress) => void) | undefined;
}

export interface ConvertOptions extends RunOptions {
  /** Output format. */
  to: OutputFormat;
  /** Input format; by default detected from the content. */
  from?: string | undefined;
}

export interface CompressOptions extends RunOptions {
  from?: string | undefined;
}

export interface MergeOptions extends Omit<RunOptions, 'filename' | 'size'> {
  /** Defaults to pdf. */
  to?: 'pdf' | 'gif' | undefined;
}

/** The result of a job. */
export interface RunResult {
  job: Job;
  files: ResultFile[];
  /** Input that could not be converted, and request fields that were ignored. */
  warnings: string[];
}

/** A task definition whose operation is chosen at run time. */
export type LooseTask = { operation: string; [parameter: string]: unknown };

/** The part of the client that runs jobs. */
interface JobClient {
  createAnyJob(
    request: { tasks: Record<string, LooseTask>; tag?: string | undefined },
    options: CallOptions,
  ): Promise<Job>;
  upload(task: Task, input: Input, options: SourceOptions & TransferOptions): Promise<void>;
  follow(job: Job, options: FollowOptions): AsyncIterable<JobEvent>;
  wait(job: Job, options: CallOptions): Promise<Job>;
  job(id: string, options: CallOptions): Promise<Job>;
  cancel(job: Job): Promise<void>;
}

/** Uploads inputs to a job with one processing task, waits for its end, and returns its files. */
export async function runJob(
  lathe: JobClient,
  inputs: Input[],
  process: LooseTask,
  { signal, tag, webpage, filename, size, onJob, onProgress }: RunOptions,
): Promise<RunResult> {
  const names = inputs.map((_input, index) => (inputs.length === 1 ? 'import' : `import-${index + 1}`));
  const imports = inputs.map((input, index): [string, LooseTask] => [names[index] ?? '', importOf(input, webpage)]);
  const tasks: Record<string, LooseTask> = {
    ...Object.fromEntries(imports),
    process: { ...process, input: names },
    export: { operation: 'export/url', input: 'process' },
  };
  const job = await lathe.createAnyJob({ tasks, tag }, { signal });
  const own = new AbortController();
  const both = signal ? AbortSignal.any([signal, own.signal]) : own.signal;
  try {
    onJob?.(job);
    const ending = onProgress ? watch(lathe, job, both, onProgress) : lathe.wait(job, { signal: both });
    const [ended] = await Promise.all([
      ending,
      uploadAll(lathe, job, inputs, { signal: both, onProgress, filename, size }),
    ]);
    if (ended.status !== 'completed') throw new JobFailedError(ended);
    onProgress?.({ stage: 'done' });
    const { warnings, ...result } = resultOf(ended);
    return { ...result, warnings: [...(job.warnings ?? []), ...warnings] };
  } catch (error) {
    // Otherwise the job would wait an hour for the failed upload. Only the first error matters to the caller.
    own.abort(error);
    if (!(error instanceof JobFailedError)) await lathe.cancel(job).catch(() => undefined);
    throw error;
  }
}

/** Returns the task that imports an input: by its URL, or by an upload. */
export function importOf(input: Input, webpage = false): LooseTask {
  if (!isWebAddress(input)) return { operation: 'import/upload' };
  return { operation: webpage ? 'import/webpage' : 'import/url', url: String(input) };
}

async function uploadAll(
  lathe: JobClient,
  job: Job,
  inputs: Input[],
  { signal, onProgress, filename, size }: Pick<RunOptions, 'signal' | 'onProgress' | 'filename' | 'size'>,
): Promise<void> {
  for (const [index, input] of inputs.entries()) {
    const task = job.tasks?.[index];
    if (!task || isWebAddress(input)) continue;
    await lathe.upload(task, input, {
      signal,
      ...(inputs.length === 1 ? { filename, size } : {}),
      onProgress: onProgress && ((progress) => onProgress({ stage: 'uploading', ...progress })),
    });
  }
  onProgress?.({ stage: 'processing', percent: undefined });
}

async function watch(
  lathe: JobClient,
  job: Job,
  signal: AbortSignal,
  onProgress: (progress: RunProgress) => void,
): Promise<Job> {
  for await (const happened of lathe.follow(job, { signal }))
    if ('task' in happened && happened.task.name === 'process')
      onProgress({ stage: 'processing', percent: happened.task.progress });
  return lathe.job(job.id, { signal });
}

/** Returns the files that a completed job exports. */
export function resultOf(job: Job): RunResult {
  const tasks = job.tasks ?? [];
  return {
    job,
    files: tasks.filter(({ operation }) => operation === 'export/url').flatMap(({ result }) => result.files ?? []),
    warnings: [...(job.warnings ?? []), ...tasks.flatMap(({ result }) => result.warnings ?? [])],
  };
}
