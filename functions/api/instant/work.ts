import { detectFile } from '../../../shared/catalogue/detect.ts';
import { outputKey } from '../../../shared/files/keys.ts';
import { safeName } from '../../../shared/files/names.ts';
import { isProcessing } from '../../../shared/operations/operations.ts';
import { routeTask } from '../../../shared/tasks/route.ts';
import { filesOf, type GivenFile, type StoredFile, type Task } from '../../../shared/tasks/task.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { secretsIn } from '../../engines/runtime/redact.ts';
import { TaskError } from '../../invocation/errors.ts';
import { withSecrets } from '../../invocation/plan-run.ts';
import type { PreparedTasks } from '../creation/prepare-tasks.ts';
import { conflict } from '../http/errors.ts';
import { failedRequest, outOfTime } from './failures.ts';

/** A file that an engine works on: stored under its key, or in memory. */
export type InputFile = GivenFile & { bytes?: Uint8Array };

/** Work for an engine that no record holds. */
export interface InstantWork {
  engine: string;
  /** The planned task, with its limits and parameters. */
  task: Task;
  files: InputFile[];
  /** Values that must not be logged. */
  secrets: string[];
}

/** Nothing is retried, so there is one attempt. */
export const attempt = 1;

/** Returns the keys of files that are fetched for a request. */
export function fetchedFor({ plan }: PreparedTasks): string[] {
  return plan.tasks.filter(({ operation }) => operation === 'import/url').map(({ id }) => outputKey(id, attempt, 0));
}

/** Finds the engine, options and files of a planned request. Throws the 422 if no engine can do it. */
export async function workOf(prepared: PreparedTasks, signal: AbortSignal): Promise<InstantWork> {
  const planned = prepared.plan.tasks.find(({ operation }) => isProcessing(operation));
  if (!planned) throw new Error('The plan of an instant request contains no operation.');
  const secrets = prepared.secrets.get(planned.name) ?? {};
  const task = { ...planned, payload: withSecrets(planned.payload, secrets) };
  const inputs = await Promise.all(task.dependsOn.map((id) => inputOf(id, prepared, signal)));
  const files = filesOf(task, inputs);
  const routed = routeTask(catalogue, task, inputs);
  if ('failure' in routed) throw failedRequest(routed.failure);
  return { engine: routed.engine, task, files, secrets: secretsIn(secrets) };
}

async function inputOf(
  id: string,
  { plan, contents, outside }: PreparedTasks,
  signal: AbortSignal,
): Promise<Task & { files: InputFile[] }> {
  const earlier = outside.get(id);
  if (earlier) {
    if (earlier.status !== 'completed')
      throw conflict(`The input task ${id} is ${earlier.status}. Wait until it is completed, or create a job instead.`);
    return earlier;
  }
  const planned = plan.tasks.find((task) => task.id === id);
  if (planned?.operation === 'import/url') return { ...planned, files: await fetched(planned, signal) };
  const bytes = planned && contents.get(planned.name);
  if (!planned || !bytes) throw new Error(`The plan of an instant request lacks the input ${id}.`);
  const name = safeName(String(planned.payload.filename));
  const detected = await detectFile(catalogue, bytes, name);
  const mediaType = catalogue.mediaType(detected.format);
  return { ...planned, files: [{ key: '', name, size: bytes.byteLength, ...detected, mediaType, token: '', bytes }] };
}

/** Imports the file of a URL as a task would. It is larger than a request may be, or not worth a second way. */
async function fetched(task: Task, signal: AbortSignal): Promise<StoredFile[]> {
  // Few requests have a URL, and the module takes time to load.
  const { importUrl } = await import('../../transfers/import-url.ts');
  const run = { task, attempt, parameters: task.payload, signal, progress: () => {} };
  try {
    return (await importUrl(run)).files;
  } catch (error) {
    if (signal.aborted) throw outOfTime();
    throw error instanceof TaskError ? failedRequest(error.failure) : error;
  }
}
