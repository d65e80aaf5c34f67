import { inject } from 'vitest';
import { until } from '../support/until.ts';

const { url, apiKey, otherKey } = inject('target');

// biome-ignore lint/suspicious/noExplicitAny: the suite judges bodies of unknown shape
export type Body = any;

export interface ApiResponse {
  status: number;
  headers: Headers;
  body: Body;
  text: string;
}

export interface Call {
  method?: string;
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  as?: 'user' | 'other' | 'nobody';
}

/** Speaks to the service under test as a client would. */
export async function call(
  path: string,
  { method, body, raw, headers = {}, as = 'user' }: Call = {},
): Promise<ApiResponse> {
  const key = { user: apiKey, other: otherKey, nobody: undefined }[as];
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const answer = await fetch(url + path, {
    method: method ?? (content === undefined ? 'GET' : 'POST'),
    redirect: 'manual',
    headers: {
      Accept: 'application/json',
      ...(content === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(key ? { Authorization: `Bearer ${key}` } : {}),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: parsed(text), text };
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A PNG of four orange pixels, written by libpng. */
const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAACAQMAAABIeJ9nAAAAA1BMVEXmfiJuyYRUAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWNgYGAAAAAEAAGjChXjAAAAAElFTkSuQmCC';

export const importPng = { operation: 'import/base64', file: png, filename: 'dot.png' };

/** Imports the pixel as a task of its own and returns its id. */
export async function importedTask(): Promise<string> {
  const { status, body } = await call('/v1/process/import/base64', { body: { file: png, filename: 'dot.png' } });
  if (status !== 201) throw new Error(`The import was answered with ${status}: ${JSON.stringify(body)}`);
  return body.id;
}

/** Creates an upload task, which stays in processing until a file is posted. */
export async function waitingTask(): Promise<Body> {
  return (await call('/v1/process/import/upload', { method: 'POST' })).body;
}

/** Creates a job and returns it. */
export async function createJob(tasks: Record<string, unknown>, more: Record<string, unknown> = {}): Promise<Body> {
  const { status, body } = await call('/v1/process/jobs', { body: { tasks, ...more } });
  if (status !== 201) throw new Error(`The job was answered with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Polls a task or job until it has ended. */
export function ended(kind: 'tasks' | 'jobs', id: string): Promise<Body> {
  return until(`${kind} ${id} has ended`, async () => {
    const { body } = await call(`/v1/process/${kind}/${id}`);
    return ['completed', 'failed', 'canceled'].includes(body.status) ? body : undefined;
  });
}

/** Polls a list until it has so many documents: lists may show what was created, or has ended, a moment late. */
export function listed(
  kind: 'tasks' | 'jobs',
  query: string,
  count: number,
  request: Parameters<typeof call>[1] = {},
): Promise<true> {
  return until(`${count} ${kind} are listed`, async () => {
    const { body } = await call(`/v1/process/${kind}?${query}`, request);
    return body.totalDocs === count ? true : undefined;
  });
}

/** Posts a file to an upload form as a browser would: without a key, the file last. */
export async function upload(
  form: { url: string; parameters: Record<string, string> },
  content: Uint8Array<ArrayBuffer>,
  name: string,
): Promise<number> {
  const data = new FormData();
  for (const [field, value] of Object.entries(form.parameters)) data.append(field, value);
  data.append('file', new Blob([content]), name);
  return (await fetch(form.url, { method: 'POST', body: data })).status;
}

/** Returns the bytes of the pixel. */
export function pngBytes(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(png.split(',')[1] ?? '', 'base64'));
}

/** Returns the task of that name in a job. */
export function taskOf(job: Body, name: string): Body {
  return job.tasks.find((task: Body) => task.name === name);
}

export const unknownId = 'ffffffffffffffffffffffff';

/** Creates an API key and returns it as it is shown this once. */
export async function madeKey(change: Record<string, unknown> = {}): Promise<Body> {
  const { status, body } = await call('/v1/account/keys', { body: { name: 'Tests', ...change } });
  if (status !== 201) throw new Error(`The key was answered with ${status}: ${JSON.stringify(body)}`);
  return body;
}
