import { until, type WaitOptions } from './until.ts';

export interface FileView {
  url: string;
  filename: string;
  size: number;
  format: string;
  media_type: string;
}

export interface TaskView {
  id: string;
  version: number;
  name: string;
  operation: string;
  status: string;
  payload: Record<string, unknown>;
  dependsOn: string[];
  job?: string;
  user: string;
  progress?: number;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  expiresAt: string;
  result: {
    url?: string;
    files?: FileView[];
    form?: UploadForm;
    errorCode?: string;
    msg?: string;
    conversionSeconds?: number;
    parts?: { total: number; done: number; running: number; seconds_left?: number };
    estimate?: { conversionSeconds: number; parts?: number };
    split_reason?: string;
  };
}

export interface JobView {
  id: string;
  version: number;
  tag?: string;
  status: string;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  result: { errorCode?: string; msg?: string };
  conversionSeconds: number;
  tasks: TaskView[];
}

export interface UploadForm {
  url: string;
  parameters: Record<string, string>;
  endpoint?: string;
}

export interface ApiResponse<T> {
  status: number;
  headers: Headers;
  body: T;
}

export interface ErrorBody {
  errorCode: string;
  msg: string;
  errors?: Record<string, string[]>;
  requestId?: string;
}

export type TaskDefinition = { operation: string } & Record<string, unknown>;

/** Calls the API as a client of it would. */
export class Client {
  readonly #service: { readonly url: string; readonly apiKey: string };

  constructor(service: { readonly url: string; readonly apiKey: string }) {
    this.#service = service;
  }

  /** Sends an instant request: an operation with its query, and a form, a file or JSON. */
  instant(
    operation: string,
    body: NonNullable<RequestInit['body']>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return fetch(`${this.#service.url}/v1/instant/${operation}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: `Bearer ${this.#service.apiKey}`, ...headers },
      body,
    });
  }

  /** Sends a request with the key and an optional JSON body; parses the response as JSON. */
  async call<T = ErrorBody>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`${this.#service.url}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${this.#service.apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer: ApiResponse<T> = {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    return answer;
  }

  /** Creates something and returns it, or throws any response but 201. */
  async create<T>(path: string, body: unknown): Promise<T> {
    const answer = await this.call<T>('POST', path, body);
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  createJob(tasks: Record<string, TaskDefinition>, tag?: string): Promise<JobView> {
    return this.create('/v1/process/jobs', { tasks, ...(tag === undefined ? {} : { tag }) });
  }

  createTask(operation: string, parameters: Record<string, unknown> = {}): Promise<TaskView> {
    return this.create(`/v1/process/${operation}`, parameters);
  }

  async showJob(id: string): Promise<JobView> {
    return this.#show(`/v1/process/jobs/${id}`);
  }

  async showTask(id: string): Promise<TaskView> {
    return this.#show(`/v1/process/tasks/${id}`);
  }

  /** Waits until a job has ended in any state, with all its tasks. */
  waitForJob(id: string, options?: WaitOptions): Promise<JobView> {
    return until(
      `job ${id} has ended`,
      async () => {
        const job = await this.showJob(id);
        return job.endedAt !== null && job.tasks.every((task) => task.endedAt !== null) ? job : undefined;
      },
      options,
    );
  }

  /** Waits until a task has ended in any state. */
  waitForTask(id: string, options?: WaitOptions): Promise<TaskView> {
    return until(
      `task ${id} has ended`,
      async () => {
        const task = await this.showTask(id);
        return task.endedAt === null ? undefined : task;
      },
      options,
    );
  }

  /** Runs a job to its end and returns it, or throws if it did not complete. */
  async runJob(tasks: Record<string, TaskDefinition>, options?: WaitOptions): Promise<JobView> {
    const { id } = await this.createJob(tasks);
    const job = await this.waitForJob(id, options);
    if (job.status !== 'completed')
      throw new Error(`The job ${job.status}: ${JSON.stringify(job.tasks.map(({ name, result }) => [name, result]))}`);
    return job;
  }

  async #show<T>(path: string): Promise<T> {
    const answer = await this.call<T>('GET', path);
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
}

/** Returns the form of an upload task. */
export function formOf({ result: { form } }: TaskView): UploadForm {
  if (!form) throw new Error('The task has no form.');
  return form;
}

/** Posts a file to an upload form as a browser does: the form's fields, then the file, and no other header. */
export function postForm(form: UploadForm, name: string, content: Uint8Array, type = ''): Promise<Response> {
  const body = new FormData();
  for (const [field, value] of Object.entries(form.parameters)) body.append(field, value);
  body.append('file', new Blob([Buffer.from(content)], { type }), name);
  return fetch(form.url, { method: 'POST', body });
}

/** Downloads the file of a link. */
export async function download(url: string): Promise<Buffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Returns the task of a job by its name. */
export function taskOf(job: JobView, name: string): TaskView {
  const task = job.tasks.find((candidate) => candidate.name === name);
  if (!task) throw new Error(`The job has no task ${name}.`);
  return task;
}

/** Returns the output files of a job's task. */
export function filesOf(job: JobView, name: string): FileView[] {
  return taskOf(job, name).result.files ?? [];
}

/** Formats bytes for import/base64. */
export function dataUri(content: Uint8Array, type = 'application/octet-stream'): string {
  return `data:${type};base64,${Buffer.from(content).toString('base64')}`;
}
