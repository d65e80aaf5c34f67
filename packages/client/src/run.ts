import { JobFailedError, LatheError } from './errors.ts';
import { type FollowOptions, isOver, type JobEvent } from './follow.ts';
import { type InstantResult, isJobNeeded, maxInstantBytes } from './instant.ts';
import {
  base64Of,
  blobOf,
  extensionIn,
  type Input,
  isStream,
  isWebAddress,
  nameIn,
  type Source,
  type SourceOptions,
  sourceOf,
} from './source.ts';
import { newIdempotencyKey } from './transport.ts';
import type {
  CallOptions,
  Job,
  Operation,
  OperationOptions,
  OptionList,
  Options,
  OutputFormat,
  Progress,
  ResultFile,
  Task,
  TransferOptions,
  WaitOptions,
} from './types.ts';

/** The progress of a conversion: bytes uploaded, or percent converted. */
export type RunProgress =
  | ({ stage: 'uploading' } & Progress)
  | { stage: 'processing'; percent: number | undefined }
  | { stage: 'done' };

export interface RunOptions extends CallOptions {
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
  options?: OperationOptions<'convert'> | undefined;
}

/** Options of operations that keep the format. */
interface SameFormatOptions extends RunOptions {
  from?: string | undefined;
}

export interface CompressOptions extends SameFormatOptions {
  options?: OperationOptions<'compress'> | undefined;
}

export interface CropOptions extends SameFormatOptions {
  /** Defaults to the input format. */
  to?: string | undefined;
  /** Such as `x`, `y`, `width` and `height`. */
  options: OperationOptions<'crop'>;
}

export interface TrimOptions extends SameFormatOptions {
  /** Defaults to the input format. */
  to?: string | undefined;
  /** Such as `trim_start` and `trim_end`. */
  options: OperationOptions<'trim'>;
}

export interface MergeOptions extends Omit<RunOptions, 'filename' | 'size'> {
  /** Defaults to pdf. */
  to?: 'pdf' | 'gif' | undefined;
  options?: OperationOptions<'merge'> | undefined;
}

/** Options of an operation that is chosen at run time. */
export interface PerformOptions extends RunOptions {
  to?: string | undefined;
  from?: string | undefined;
  options?: Options | undefined;
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

/** A processing task of `run`. */
interface ProcessingTask extends LooseTask {
  operation: Operation;
  input_format: string | undefined;
  output_format: string | undefined;
  options: Options;
}

/** The part of the client that performs operations. */
interface Runner {
  readonly waitSeconds: number;
  createAnyJob(
    request: { tasks: Record<string, LooseTask>; tag?: string | undefined },
    options: WaitOptions & { idempotencyKey: string },
  ): Promise<Job>;
  upload(task: Task, input: Input, options: SourceOptions & TransferOptions): Promise<void>;
  follow(job: Job, options: FollowOptions): AsyncIterable<JobEvent>;
  wait(job: Job, options: CallOptions): Promise<Job>;
  job(id: string, options: CallOptions): Promise<Job>;
  options(from: string, to: string, query: CallOptions & { operation: Operation }): Promise<OptionList>;
  cancel(job: Job, options: CallOptions): Promise<void>;
  instant(operation: string, form: FormData, options: WaitOptions): Promise<InstantResult | Job>;
}

/** Time to cancel a job after an abort. */
const cancelMs = 10_000;
/** The maximum of the service for a file within a task. */
const maxInlineBytes = 1_000_000;

/** Performs an operation on inputs: within one request if they are small, and otherwise by a job. */
export async function run(
  lathe: Runner,
  inputs: Input[],
  process: ProcessingTask,
  options: RunOptions,
): Promise<RunResult> {
  const { signal, onJob, onProgress } = options;
  signal?.throwIfAborted();
  const isSmall = await haveAtMost(maxInstantBytes, inputs, options);
  const { instant = true, tag, webpage } = options;
  if (!isSmall || !instant || tag !== undefined || webpage) return runJob(lathe, inputs, process, options);
  onProgress?.({ stage: 'processing', percent: undefined });
  const result = await performInstantly(lathe, process.operation, await formOf(inputs, process, options), { signal });
  if (!result) return runJob(lathe, inputs, process, options);
  if ('files' in result) {
    onProgress?.({ stage: 'done' });
    return result;
  }
  onJob?.(result);
  return orCancel(lathe, result, () => endOf(lathe, result, process, signal, onProgress));
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

/** Returns whether inputs are files of at most this size in all, and can be read again. */
async function haveAtMost(bytes: number, inputs: Input[], options: RunOptions): Promise<boolean> {
  if (inputs.some((input) => isWebAddress(input) || isStream(input))) return false;
  const sources = await sourcesOf(inputs, options);
  return sources.reduce((sum, { size }) => sum + size, 0) <= bytes;
}

function sourcesOf(inputs: Input[], { filename, size }: RunOptions): Promise<Source[]> {
  return Promise.all(inputs.map((input) => sourceOf(input, inputs.length === 1 ? { filename, size } : {})));
}

async function formOf(
  inputs: Input[],
  { operation: _operation, options = {}, ...parameters }: LooseTask,
  chosen: RunOptions,
): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) form.set(name, String(value));
  form.set('options', JSON.stringify(options));
  for (const source of await sourcesOf(inputs, chosen)) form.append('file', await blobOf(source), source.name);
  return form;
}

/** Performs an operation by a job with one processing task, waits for its end, and returns its files. */
async function runJob(
  lathe: Runner,
  inputs: Input[],
  process: ProcessingTask,
  options: RunOptions,
): Promise<RunResult> {
  const { signal, tag, onJob, onProgress } = options;
  const imports = await importsOf(inputs, options);
  if (imports.some(isUpload)) await checkNames(lathe, inputs, process, options);
  const names = imports.map((_input, index) => (imports.length === 1 ? 'import' : `import-${index + 1}`));
  const tasks: Record<string, LooseTask> = {
    ...Object.fromEntries(imports.map((task, index) => [names[index], task])),
    process: { ...process, input: names },
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
      const [result] = await Promise.all([ending, uploadAll(lathe, job, inputs, { ...options, signal: both })]);
      return result;
    } catch (error) {
      own.abort(error);
      throw error;
    }
  });
}

/** Checks the names of options if the names of the inputs say what they are. */
async function checkNames(
  lathe: Runner,
  inputs: Input[],
  { operation, input_format: format, output_format: to, options }: ProcessingTask,
  { filename, signal }: RunOptions,
): Promise<void> {
  const from = inputs.map((input) => format ?? extensionIn(filename ?? nameIn(input)));
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

/** Returns the task that imports an input: by its URL, or by an upload. */
export function importOf(input: Input, webpage = false): LooseTask {
  if (!isWebAddress(input)) return { operation: 'import/upload' };
  return { operation: webpage ? 'import/webpage' : 'import/url', url: String(input) };
}

/** Returns the tasks that import inputs. Small files are in the tasks, unless the progress of uploads is wanted. */
async function importsOf(inputs: Input[], options: RunOptions): Promise<LooseTask[]> {
  const { onJob, onProgress, webpage } = options;
  if (onJob || onProgress || !(await haveAtMost(maxInlineBytes, inputs, options)))
    return inputs.map((input) => importOf(input, webpage));
  return Promise.all(
    (await sourcesOf(inputs, options)).map(async (source) => ({
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
  inputs: Input[],
  { signal, onProgress, filename, size }: Pick<RunOptions, 'signal' | 'onProgress' | 'filename' | 'size'>,
): Promise<void> {
  for (const [index, input] of inputs.entries()) {
    const task = job.tasks?.[index];
    if (!task || !isUpload(task)) continue;
    await lathe.upload(task, input, {
      signal,
      ...(inputs.length === 1 ? { filename, size } : {}),
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

/** Returns the files that a completed job exports. */
export function resultOf(job: Job): RunResult & { job: Job } {
  const tasks = job.tasks ?? [];
  return {
    job,
    files: tasks.filter(({ operation }) => operation === 'export/url').flatMap(({ result }) => result.files ?? []),
    warnings: [...(job.warnings ?? []), ...tasks.flatMap(({ result }) => result.warnings ?? [])],
  };
}
