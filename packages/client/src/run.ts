import { JobFailedError, LatheError } from './errors.ts';
import type { FollowOptions, JobEvent } from './follow.ts';
import { blobOf, type Input, isStream, isWebAddress, type SourceOptions, sourceOf } from './source.ts';
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
  /** Whether a small file may be converted within one request, without a job; defaults to true. */
  instant?: boolean | undefined;
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
  /** Absent if the conversion was instant. */
  job?: Job | undefined;
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
  instant(operation: string, form: FormData, options: CallOptions): Promise<InstantResult | Job | undefined>;
}

/** The result of an instant conversion. */
export type InstantResult = Pick<RunResult, 'files' | 'warnings'>;

/** Performs an operation on inputs: within one request if they are small, and otherwise by a job. */
export async function run(
  lathe: JobClient,
  inputs: Input[],
  process: LooseTask,
  options: RunOptions,
): Promise<RunResult> {
  const form = await instantForm(inputs, process, options);
  if (!form) return runJob(lathe, inputs, process, options);
  const { signal, onJob, onProgress } = options;
  try {
    onProgress?.({ stage: 'processing', percent: undefined });
    const result = await lathe.instant(process.operation, form, { signal });
    if (!result) return runJob(lathe, inputs, process, options);
    if ('files' in result) {
      onProgress?.({ stage: 'processing', percent: 100 });
      onProgress?.({ stage: 'done' });
      return result;
    }
    onJob?.(result);
    return ended(
      await (onProgress ? watch(lathe, result, signal, onProgress) : lathe.wait(result, { signal })),
      onProgress,
    );
  } catch (error) {
    if (error instanceof LatheError && needsJob.has(error.status ?? 0)) return runJob(lathe, inputs, process, options);
    throw error;
  }
}

/** Statuses of instant requests that a job may avoid: unknown to the service, too large, too many, busy, too slow. */
const needsJob = new Set([404, 405, 413, 429, 503, 504]);

/** The maximum of the service for all files of an instant request. */
const maxInstantBytes = 4_400_000;

/** Returns the form of an instant request; undefined if the inputs are too large, not files, or of unknown size. */
async function instantForm(
  inputs: Input[],
  { operation: _operation, options = {}, ...parameters }: LooseTask,
  { instant = true, tag, webpage, filename, size }: RunOptions,
): Promise<FormData | undefined> {
  if (!instant || tag !== undefined || webpage || inputs.some(isWebAddress) || inputs.some(isStream)) return undefined;
  const sources = await Promise.all(
    inputs.map((input) => sourceOf(input, inputs.length === 1 ? { filename, size } : {})),
  );
  if (sources.reduce((sum, source) => sum + source.size, 0) > maxInstantBytes) return undefined;
  const form = new FormData();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) form.set(name, String(value));
  form.set('options', JSON.stringify(options));
  for (const source of sources) form.append('file', await blobOf(source), source.name);
  return form;
}

/** Uploads inputs to a job with one processing task, waits for its end, and returns its files. */
async function runJob(
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
    const [end] = await Promise.all([
      ending,
      uploadAll(lathe, job, inputs, { signal: both, onProgress, filename, size }),
    ]);
    const { warnings, ...result } = ended(end, onProgress);
    return { ...result, warnings: [...(job.warnings ?? []), ...warnings] };
  } catch (error) {
    // Otherwise the job would wait an hour for the failed upload. Only the first error matters to the caller.
    own.abort(error);
    if (!(error instanceof JobFailedError)) await lathe.cancel(job).catch(() => undefined);
    throw error;
  }
}

function ended(job: Job, onProgress: RunOptions['onProgress']): RunResult {
  if (job.status !== 'completed') throw new JobFailedError(job);
  onProgress?.({ stage: 'done' });
  return resultOf(job);
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
  signal: AbortSignal | undefined,
  onProgress: (progress: RunProgress) => void,
): Promise<Job> {
  for await (const happened of lathe.follow(job, { signal }))
    if ('task' in happened && happened.task.name === 'process')
      onProgress({ stage: 'processing', percent: happened.task.progress });
  return lathe.job(job.id, { signal });
}

/** Returns the files that a completed job exports. */
export function resultOf(job: Job): RunResult & { job: Job } {
  const tasks = job.tasks ?? [];
  return {
    job,
    files: tasks.filter(({ operation }) => operation === 'export/url').flatMap(({ result }) => result.files ?? []),
    warnings: [...(job.warnings ?? []), ...tasks.flatMap(({ result }) => result.warnings ?? [])],
  };
}
