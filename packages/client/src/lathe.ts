import { type DownloadOptions, type Link, readFile, type Target, writeFile } from './download.ts';
import { LatheError } from './errors.ts';
import { type FollowOptions, followJob, isOver, type JobEvent, waitOnce } from './follow.ts';
import { type InstantResult, isJobNeeded, readInstantResult, retriesBeforeJob } from './instant.ts';
import { run } from './perform.ts';
import { pause } from './retry.ts';
import type {
  CompressOptions,
  ConvertOptions,
  CropOptions,
  LooseTask,
  MergeOptions,
  PerformOptions,
  RunResult,
  TrimOptions,
} from './run.ts';
import { type Input, type SourceOptions, sourceOf } from './source.ts';
import { newIdempotencyKey, type RequestOptions, Transport, type TransportOptions } from './transport.ts';
import type {
  CallOptions,
  Estimate,
  Format,
  FormatList,
  Health,
  Job,
  JobFilter,
  JobRequest,
  Operation,
  OptionList,
  Task,
  TaskFilter,
  TransferOptions,
  WaitOptions,
} from './types.ts';
import { uploadFile } from './upload.ts';

export type LatheOptions = TransportOptions;

export interface CreateOptions extends WaitOptions {
  /** Two requests with the same key and body create one job. Defaults to a new key for each call. */
  idempotencyKey?: string | undefined;
}

export interface FormatQuery extends CallOptions {
  /** Lists the output formats of this format. */
  from?: string | undefined;
  /** Lists the input formats for this format. */
  to?: string | undefined;
  /** Defaults to convert, and for all formats to any operation. */
  operation?: Operation | (string & {}) | undefined;
}

interface Page<T> {
  docs: T[];
  hasNextPage: boolean;
}

/** A client for a Lathe service. Transient failures are retried without creating duplicates. */
export class Lathe {
  readonly #transport: Transport;

  constructor(options: LatheOptions = {}) {
    this.#transport = new Transport(options);
  }

  /** Root of the API. */
  get url(): string {
    return this.#transport.url;
  }

  /** How many seconds a request may wait for the end of its work. */
  get waitSeconds(): number {
    return this.#transport.waitSeconds;
  }

  /** Sends any request to the API and returns the body of its response. */
  request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const idempotencyKey = options.idempotencyKey ?? (method === 'POST' ? newIdempotencyKey() : undefined);
    return this.#transport.json<T>(method, path, { ...options, idempotencyKey });
  }

  /** Creates a job with all its tasks. With `waitSeconds`, returns it when it ends or after that time. */
  createJob(request: JobRequest, options: CreateOptions = {}): Promise<Job> {
    return this.createAnyJob(request, options);
  }

  /** Creates a job whose operations and formats are chosen at run time, without type checks. */
  createAnyJob(
    request: Omit<JobRequest, 'tasks' | 'tag'> & { tag?: string | undefined; tasks: Record<string, LooseTask> },
    { waitSeconds = 0, ...options }: CreateOptions = {},
  ): Promise<Job> {
    const headers = waitSeconds > 0 ? { headers: { prefer: `wait=${waitSeconds}` } } : {};
    return this.request('POST', '/v1/process/jobs', { ...options, ...headers, body: request });
  }

  /** Returns a job with its tasks. */
  job(id: string, options: CallOptions = {}): Promise<Job> {
    return this.request('GET', `/v1/process/jobs/${encodeURIComponent(id)}`, options);
  }

  /** Returns a task. */
  task(id: string, options: CallOptions = {}): Promise<Task> {
    return this.request('GET', `/v1/process/tasks/${encodeURIComponent(id)}`, options);
  }

  /** Yields jobs, newest first, and fetches pages on demand. */
  jobs({ signal, ...filter }: JobFilter & CallOptions = {}): AsyncGenerator<Job> {
    return this.#pages<Job>('/v1/process/jobs', filter, signal);
  }

  /** Yields tasks, newest first, and fetches pages on demand. */
  tasks({ signal, ...filter }: TaskFilter & CallOptions = {}): AsyncGenerator<Task> {
    return this.#pages<Task>('/v1/process/tasks', filter, signal);
  }

  /**
   * Uploads a file to an `import/upload` task. A file of more than 100 MB is sent in parts: called again after an error, with the
   * same task and file, it resumes.
   */
  async upload(task: Task, input: Input, options: SourceOptions & TransferOptions = {}): Promise<void> {
    const { form } = task.result;
    if (!form)
      throw new TypeError(
        `Expected an import/upload task but received ${task.name}, whose operation is ${task.operation}.`,
      );
    await uploadFile(this.#transport, form, await sourceOf(input, options), options);
  }

  /** Yields the events of a job as they happen, until it and all its tasks have ended. */
  follow(job: Job | string, options: FollowOptions = {}): AsyncGenerator<JobEvent, void> {
    return followJob(this.#transport, idOf(job), options);
  }

  /** Waits until a job and all its tasks have ended, successfully or not, and returns it. */
  async wait(job: Job | string, { signal }: CallOptions = {}): Promise<Job> {
    for (;;) {
      const { job: found, pauseMs } = await waitOnce(this.#transport, idOf(job), signal);
      if (isOver(found)) return found;
      await pause(pauseMs, signal);
    }
  }

  /** Waits for the end of a job with one long poll, and returns its current state. */
  async waitOnce(job: Job | string, { signal }: CallOptions = {}): Promise<Job> {
    return (await waitOnce(this.#transport, idOf(job), signal)).job;
  }

  /** Writes a result file to a path or stream. */
  async download(file: Link, to: Target, options: DownloadOptions = {}): Promise<void> {
    await writeFile(readFile(this.#transport, file, options), to, options);
  }

  /** Yields a result file in chunks. */
  read(file: Link, options: TransferOptions = {}): AsyncGenerator<Uint8Array> {
    return readFile(this.#transport, file, options);
  }

  /** Returns a result file as a Blob. */
  async blob(file: Link, options: TransferOptions = {}): Promise<Blob> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for await (const chunk of this.read(file, options)) parts.push(new Uint8Array(chunk));
    return new Blob(parts, typeof file === 'object' && 'media_type' in file ? { type: file.media_type } : {});
  }

  /** Converts a file or URL and returns the result files; throws if the job fails. */
  convert(input: Input, options: ConvertOptions): Promise<RunResult> {
    return this.perform('convert', [input], options);
  }

  /** Reduces the size of a file and keeps its format. */
  compress(input: Input, options: CompressOptions = {}): Promise<RunResult> {
    return this.perform('compress', [input], options);
  }

  /** Crops an image, a video or the pages of a PDF. */
  crop(input: Input, options: CropOptions): Promise<RunResult> {
    return this.perform('crop', [input], options);
  }

  /** Cuts audio or video to a part of its duration. */
  trim(input: Input, options: TrimOptions): Promise<RunResult> {
    return this.perform('trim', [input], options);
  }

  /** Merges images and PDFs into one file, in the order given. */
  merge(inputs: Input[], options: MergeOptions = {}): Promise<RunResult> {
    return this.perform('merge', inputs, { ...options, to: options.to ?? 'pdf' });
  }

  /** Performs an operation whose formats and options are chosen at run time, without type checks. */
  perform(
    operation: Operation | (string & {}),
    inputs: Input[],
    { to, from, options = {}, ...rest }: PerformOptions = {},
  ): Promise<RunResult> {
    return run(this, inputs, { operation, input_format: from, output_format: to, options }, rest);
  }

  /** Performs an operation within one request; returns a job if it is expected to take longer. */
  async instant(
    operation: string,
    form: FormData,
    { signal, waitSeconds = this.#transport.waitSeconds }: WaitOptions = {},
  ): Promise<InstantResult | Job> {
    const response = await this.#transport.post(`/v1/instant/${operation}`, form, {
      signal,
      // The key is for the job that the service may create.
      headers: { prefer: `wait=${waitSeconds}`, 'idempotency-key': newIdempotencyKey() },
      retries: (error) => (isJobNeeded(error.status) ? retriesBeforeJob(error) : this.#transport.policy.retries),
    });
    if (response.status === 202) return (await response.json()) as Job;
    return readInstantResult(response, form.get('output_format')?.toString());
  }

  /** Cancels all tasks of a job that have not ended. */
  async cancel(job: Job | string, options: CallOptions = {}): Promise<void> {
    const { tasks = [] } = await this.job(idOf(job), options);
    await Promise.all(tasks.filter(({ endedAt }) => endedAt === null).map((task) => this.cancelTask(task, options)));
  }

  /** Cancels a task and its dependents. Has no effect if the task has ended. */
  async cancelTask(task: Task | string, options: CallOptions = {}): Promise<void> {
    try {
      await this.request('POST', `/v1/process/tasks/${encodeURIComponent(idOf(task))}/cancel`, options);
    } catch (error) {
      if (!(error instanceof LatheError) || error.status !== 409) throw error;
    }
  }

  /** Deletes a job with its tasks and files. */
  async deleteJob(job: Job | string, options: CallOptions = {}): Promise<void> {
    await this.request('DELETE', `/v1/process/jobs/${encodeURIComponent(idOf(job))}`, options);
  }

  /** Returns all formats, or the input or output formats of one. */
  async formats(query: FormatQuery = {}): Promise<string[]> {
    return [...new Set((await this.describeFormats(query)).map(({ ext }) => ext))].sort();
  }

  /** Returns the same formats with their media types, and the formats that they are other names of. */
  async describeFormats({ from, to, operation, signal }: FormatQuery = {}): Promise<Format[]> {
    const path = `/v1/query/formats${(operation ?? from ?? to) ? `/${operation ?? 'convert'}` : ''}`;
    const query = { input_format: from, output_format: to };
    return (await this.request<FormatList>('GET', path, { query, signal })).formats;
  }

  /** Returns the options of an operation for a pair of formats; the output format defaults to that of the operation. */
  options(
    from: string,
    to: string | undefined,
    { operation = 'convert', signal }: FormatQuery = {},
  ): Promise<OptionList> {
    const query = { input_format: from, output_format: to };
    return this.request('GET', `/v1/query/options/${operation}`, { query, signal });
  }

  /** Validates a job and estimates its conversion time, without creating it. */
  estimate(request: { tasks: Record<string, LooseTask> }, { signal }: CallOptions = {}): Promise<Estimate> {
    return this.request('POST', '/v1/process/jobs', { query: { dry_run: 'true' }, body: request, signal });
  }

  /** Returns the version, engines and WebSocket URLs of the service. */
  health(options: CallOptions = {}): Promise<Health> {
    return this.request('GET', '/health', options);
  }

  async *#pages<T>(
    path: string,
    filter: Record<string, string | number | undefined>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<T> {
    for (let page = 1; ; page += 1) {
      const { docs, hasNextPage } = await this.request<Page<T>>('GET', path, { query: { ...filter, page }, signal });
      yield* docs;
      if (!hasNextPage) return;
    }
  }
}

function idOf(subject: { id: string } | string): string {
  return typeof subject === 'string' ? subject : subject.id;
}
