import type { FollowOptions, JobEvent } from './follow.ts';
import type { InstantResult } from './instant.ts';
import { type Input, isStream, isWebAddress, type Source, type SourceOptions, sourceOf } from './source.ts';
import type {
  CallOptions,
  Job,
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
  /** Files that the operation uses in addition to its inputs, by their roles, such as `picture` of a watermark. */
  files?: Record<string, Input | Input[]> | undefined;
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
export interface ProcessingTask extends LooseTask {
  operation: string;
  input_format: string | undefined;
  output_format: string | undefined;
  options: Options;
}

/** The part of the client that performs operations. */
export interface Runner {
  readonly waitSeconds: number;
  createAnyJob(
    request: { tasks: Record<string, LooseTask>; tag?: string | undefined },
    options: WaitOptions & { idempotencyKey: string },
  ): Promise<Job>;
  upload(task: Task, input: Input, options: SourceOptions & TransferOptions): Promise<void>;
  follow(job: Job, options: FollowOptions): AsyncIterable<JobEvent>;
  wait(job: Job, options: CallOptions): Promise<Job>;
  job(id: string, options: CallOptions): Promise<Job>;
  options(from: string, to: string | undefined, query: CallOptions & { operation: string }): Promise<OptionList>;
  cancel(job: Job, options: CallOptions): Promise<void>;
  instant(operation: string, form: FormData, options: WaitOptions): Promise<InstantResult | Job>;
}

/** A file that an operation works on, or one that it uses. */
export interface GivenFile {
  input: Input;
  about: SourceOptions;
  /** The field of the operation that names it, and the name of its import unless there are several. */
  role: string | undefined;
}

/** Returns whether inputs are files of at most this size in all, and can be read again. */
export async function haveAtMost(bytes: number, given: GivenFile[]): Promise<boolean> {
  if (given.some(({ input }) => isWebAddress(input) || isStream(input))) return false;
  const sources = await sourcesOf(given);
  return sources.reduce((sum, { size }) => sum + size, 0) <= bytes;
}

export function sourcesOf(given: GivenFile[]): Promise<Source[]> {
  return Promise.all(given.map(({ input, about }) => sourceOf(input, about)));
}

/** Returns the task that imports an input: by its URL, or by an upload. */
export function importOf(input: Input, webpage = false): LooseTask {
  if (!isWebAddress(input)) return { operation: 'import/upload' };
  return { operation: webpage ? 'import/webpage' : 'import/url', url: String(input) };
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
