import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { EngineState } from '../../shared/aws/stores/engine-state.ts';
import { defined } from '../../shared/defined.ts';

/** What went wrong, and what to do about it. */
export class SmokeError extends Error {
  override name = 'SmokeError';
}

export interface Health {
  version: string;
  engines: { name: string; usable: boolean; reason?: string; missing?: unknown[]; isolation?: EngineState }[];
  /** Addresses for event clients. */
  websocket: { url: string; socketIo: { url: string; path: string } };
}

interface StoredFile {
  url: string;
  filename: string;
  size: number;
}

export interface Task {
  name: string;
  operation: string;
  status: string;
  progress?: number;
  result: {
    form?: { url: string; parameters: Record<string, string> };
    /** The only file of a task. */
    url?: string;
    files?: StoredFile[];
    errorCode?: string;
    msg?: string;
  };
}

export interface Job {
  id: string;
  status: string;
  endedAt: string | null;
  tasks: Task[];
}

/** Longer than the service's own wait. */
const requestMs = 60_000;
const attempts = 5;
/** Between polls, and before the first retry. */
const usualPauseMs = 1_000;

/** The API of a running service, local or deployed. */
export class Service {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #pauseMs: number;

  constructor(url: string, key: string, { pauseMs = usualPauseMs }: { pauseMs?: number } = {}) {
    this.#pauseMs = pauseMs;
    this.#url = url.replace(/\/$/, '');
    this.#headers = { accept: 'application/json', authorization: `Bearer ${key}` };
  }

  /** Returns the health of the service. */
  health(): Promise<Health> {
    return this.#call('GET', '/health');
  }

  /** Throws if the service refuses the key. */
  async checkKey(): Promise<void> {
    await this.#call('GET', '/v1/process/tasks');
  }

  /** Returns the output formats of an operation for an input format. */
  async outputsOf(operation: string, from: string): Promise<string[]> {
    const path = `/v1/query/formats/${operation}?input_format=${encodeURIComponent(from)}`;
    const { formats } = await this.#call<{ formats: { ext: string }[] }>('GET', path);
    return formats.map(({ ext }) => ext);
  }

  /** Returns the response to a path of the page, requested as by a browser. */
  async page(path: string): Promise<{ status: number; headers: Headers; text: string }> {
    const response = await this.#retried(path, { headers: { accept: 'text/html,*/*' } });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  createJob(tasks: Record<string, unknown>): Promise<Job> {
    return this.#call('POST', '/v1/process/jobs', { tasks });
  }

  /** Returns a job when it has ended, or after a while. Reads the job if too many clients wait already. */
  async waitForJob(id: string): Promise<Job> {
    const path = `/v1/process/jobs/${id}`;
    const response = await request(`${this.#url}${path}/wait`, { headers: this.#headers });
    if (response.ok) return Object(await response.json());
    await response.body?.cancel();
    await wait(this.#pauseMs);
    return this.#call('GET', path);
  }

  /** Posts a file to the form of an upload, as a browser does. */
  async upload(form: NonNullable<Task['result']['form']>, name: string, content: Buffer): Promise<void> {
    const body = new FormData();
    for (const [field, value] of Object.entries(form.parameters)) body.append(field, value);
    body.append('file', new Blob([new Uint8Array(content)]), name);
    const response = await request(form.url, { method: 'POST', body });
    if (!response.ok)
      throw new SmokeError(`The bucket refused the upload with status ${response.status}: ${await response.text()}`);
  }

  /** Downloads a file by its link, which redirects to the bucket. */
  async download({ url, size }: StoredFile): Promise<Buffer> {
    const response = await request(url, {});
    if (!response.ok)
      throw new SmokeError(`The download was refused with status ${response.status}: ${await response.text()}`);
    const content = Buffer.from(await response.arrayBuffer());
    if (content.length !== size)
      throw new SmokeError(`The download has ${content.length} bytes, but the task says ${size}.`);
    return content;
  }

  async #call<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = {
      ...this.#headers,
      // A repeated request creates nothing twice.
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
    };
    const response = await this.#retried(path, defined({ method, headers, body: body && JSON.stringify(body) }));
    const text = await response.text();
    if (!response.ok) throw new SmokeError(explain(`${method} ${path}`, response.status, text));
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new SmokeError(`${this.#url}${path} did not respond with JSON. Is this the ApiUrl of the stack?`, {
        cause: error,
      });
    }
  }

  /** Repeats a request that was throttled or failed for a transient reason. */
  async #retried(path: string, init: RequestInit): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const response = await request(`${this.#url}${path}`, init);
      if ((response.status < 500 && response.status !== 429) || attempt === attempts) return response;
      await response.body?.cancel();
      await wait(this.#pauseMs * 2 ** (attempt - 1));
    }
  }
}

async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(requestMs) });
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : new Error(String(error));
    const reason = cause instanceof Error ? cause.message || String(Object(cause).code) : message;
    throw new SmokeError(
      `${new URL(url).host} could not be reached: ${reason}. Check the URL: the output ApiUrl of the stack, or what npm start printed.`,
      { cause: error },
    );
  }
}

function explain(what: string, status: number, text: string): string {
  const response = `${what} responded with status ${status}: ${text.slice(0, 500)}`;
  if (status === 401 || status === 403)
    return `The API key was refused. Create one with npm run key -- --stack <name of the stack>, and pass it with --key.\n${response}`;
  if (status >= 500)
    return `The service fails. What to do: ApiErrors, or for a 503 Throttles, in docs/runbook.md.\n${response}`;
  if (status === 429)
    return `The service is throttled: another client uses up throttleRate, or the account of the key its ratePerMinute.\n${response}`;
  return response;
}
