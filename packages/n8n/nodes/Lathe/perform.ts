import { randomUUID } from 'node:crypto';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { jsonParse, sleep } from 'n8n-workflow';
import { checked, request, requestJson, requestLink, type ServiceResponse } from './api';
import { entriesOf } from './zip';

/** The maximum of the service for all files of an instant request. */
const maxInstantBytes = 4_400_000;
/** Statuses of an instant request after which a job may succeed: too large, too many, busy, too slow. */
const jobStatuses = new Set([404, 405, 413, 429, 500, 502, 503, 504]);

/** What a task works on: files of items, or what a URL leads to. */
export type Input = { files: InputFile[] } | { url: string };

interface InputFile {
  name: string;
  content: Buffer;
}

export interface Operation {
  operation: 'convert' | 'compress' | 'merge';
  /** Parameters such as `output_format` and `options`. */
  parameters: IDataObject;
}

export interface Result {
  files: Array<{ name: string; type: string; content: Buffer }>;
  /** What could not be converted. */
  warnings: string[];
}

interface Task {
  id: string;
  name: string;
  operation: string;
  status: string;
  result: {
    msg?: string;
    warnings?: string[];
    files?: Array<{ url: string; filename: string; media_type: string }>;
    form?: { url: string; parameters: Record<string, string> };
  };
}

/** A job as the API returns it. */
export interface Job {
  id: string;
  status: string;
  endedAt: string | null;
  result?: { msg?: string };
  tasks?: Task[];
}

/** Performs an operation within one request if the files are small, and otherwise by a job that it waits for. */
export async function perform(
  context: IExecuteFunctions,
  input: Input,
  operation: Operation,
  timeoutSeconds: number,
): Promise<Result> {
  const size = 'files' in input ? input.files.reduce((sum, { content }) => sum + content.length, 0) : 0;
  const instant = size <= maxInstantBytes ? await performInstantly(context, input, operation) : undefined;
  if (instant && 'files' in instant) return instant;
  const job = await waitForJob(context, (instant ?? (await createJob(context, input, operation))).id, timeoutSeconds);
  return resultOf(context, job);
}

/** Waits for the end of a job and returns it. Throws an error if it has not ended within the time. */
export async function waitForJob(context: IExecuteFunctions, id: string, timeoutSeconds: number): Promise<Job> {
  const deadline = Date.now() + timeoutSeconds * 1000;
  for (;;) {
    const response = checked(await request(context, `/v1/process/jobs/${encodeURIComponent(id)}/wait`));
    const job = jsonParse<Job>(response.body.toString());
    if (job.endedAt !== null) return job;
    const pauseMs = Number(response.headers['retry-after'] ?? 1) * 1000;
    if (Date.now() + pauseMs > deadline)
      throw new Error(`The job ${id} has not ended within ${timeoutSeconds} seconds. Wait for it with Job: Wait.`);
    await sleep(pauseMs);
  }
}

/** Sends an instant request. Returns its result, the job that it became, or undefined if it takes a new job. */
async function performInstantly(
  context: IExecuteFunctions,
  input: Input,
  { operation, parameters }: Operation,
): Promise<Result | Job | undefined> {
  const response = await request(context, `/v1/instant/${operation}`, {
    method: 'POST',
    retry: false,
    ...('url' in input ? { json: { ...parameters, url: input.url } } : { form: formOf(input.files, parameters) }),
  });
  const { status, headers, body } = response;
  if (jobStatuses.has(status)) return undefined;
  if (status === 303) return resultIn(await requestLink(context, headers.location ?? ''), headers);
  checked(response);
  return status === 202 ? jsonParse<Job>(body.toString()) : resultIn(response, headers);
}

function formOf(files: InputFile[], parameters: IDataObject): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(parameters))
    form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  for (const { name, content } of files) form.append('file', new Blob([new Uint8Array(content)]), name);
  return form;
}

/** Reads the response that holds a result. The headers about it are those of the first response. */
function resultIn({ headers, body }: ServiceResponse, first: ServiceResponse['headers']): Result {
  const archived = first['lathe-archive'];
  const name = filenameIn(headers['content-disposition'] ?? '');
  const type = archived ?? headers['content-type'] ?? 'application/octet-stream';
  return {
    files: (archived === undefined ? [{ name, content: body }] : entriesOf(body)).map((file) => ({ ...file, type })),
    warnings: jsonParse<string[]>(first['lathe-warnings'] ?? '[]'),
  };
}

/** Returns the filename in a Content-Disposition header (RFC 6266). */
function filenameIn(header: string): string {
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(header)?.[1];
  return encoded === undefined ? (/filename="([^"]+)"/.exec(header)?.[1] ?? 'file') : decodeURIComponent(encoded);
}

/** Creates a job with one processing task, and uploads the files to its forms. */
async function createJob(context: IExecuteFunctions, input: Input, { operation, parameters }: Operation): Promise<Job> {
  const imports: Array<[string, IDataObject]> =
    'url' in input
      ? [['file-0', { operation: 'import/url', url: input.url }]]
      : input.files.map((_file, index) => [`file-${index}`, { operation: 'import/upload' }]);
  const job = await requestJson<Job>(context, '/v1/process/jobs', {
    method: 'POST',
    headers: { 'idempotency-key': randomUUID() },
    json: {
      tasks: {
        ...Object.fromEntries(imports),
        result: { operation, input: imports.map(([name]) => name), ...parameters },
        link: { operation: 'export/url', input: 'result' },
      },
    },
  });
  if ('url' in input) return job;
  for (const [index, { name, content }] of input.files.entries()) {
    const form = job.tasks?.find((task) => task.name === `file-${index}`)?.result.form;
    if (!form) throw new Error(`The job ${job.id} has no upload form. Check that the key has the scope process.`);
    const body = new FormData();
    for (const [field, value] of Object.entries(form.parameters)) body.set(field, value);
    body.set('file', new Blob([new Uint8Array(content)]), name);
    await requestLink(context, form.url, { method: 'POST', form: body });
  }
  return job;
}

/** Downloads the exported files of an ended job, or throws why it failed. */
async function resultOf(context: IExecuteFunctions, { id, status, result, tasks = [] }: Job): Promise<Result> {
  const failed = tasks.find((task) => task.status === 'failed');
  if (status !== 'completed')
    throw new Error(failed?.result.msg ?? result?.msg ?? `The job ${id} ended as ${status}. Look at it with Job: Get.`);
  const exported = tasks.flatMap((task) => (task.operation === 'export/url' ? (task.result.files ?? []) : []));
  const files: Result['files'] = [];
  for (const { url, filename, media_type } of exported)
    files.push({ name: filename, type: media_type, content: (await requestLink(context, url)).body });
  return { files, warnings: tasks.flatMap((task) => task.result.warnings ?? []) };
}
