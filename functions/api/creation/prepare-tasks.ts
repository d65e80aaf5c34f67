import type { Caller } from '../../../shared/accounts/caller.ts';
import { newToken, putObject } from '../../../shared/aws/objects.ts';
import { records } from '../../../shared/aws/records.ts';
import { storeSecrets } from '../../../shared/aws/secrets.ts';
import { detectFile } from '../../../shared/catalogue/detect.ts';
import { outputKey } from '../../../shared/files/keys.ts';
import { safeName } from '../../../shared/files/names.ts';
import type { Plan } from '../../../shared/lifecycle/dependencies.ts';
import { isDeletedOrExpired, type Task } from '../../../shared/tasks/task.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { lifecycle } from '../../wiring/lifecycle.ts';
import { settings } from '../../wiring/settings.ts';
import { insufficientPermission, invalidFields } from '../http/errors.ts';
import { decodeDataUri } from './data-uri.ts';
import { limitProblems } from './key-limits.ts';
import { type JobSettings, outsideInputs, planTasks, type TaskRequest, withFile } from './plan.ts';
import { timeLimitsOf } from './time-limits.ts';
import { makeUploadForm } from './upload-form.ts';

/** Tasks that are planned but not written: a request that is refused creates nothing. */
export interface Creation {
  plan: Plan;
  /**
   * Stores the files of the request, writes the records and enqueues the first tasks. An error after that is reported to
   * `onError` where the sweep does what is left. Returns what was written, or undefined where it may have changed since.
   */
  write(onError?: (error: unknown) => void): Promise<Plan | undefined>;
}

/** Plans the tasks of a request, and their job where they form one, or throws the 400, or the 403 for what a key is not allowed. */
export async function prepareTasks(requests: TaskRequest[], caller: Caller, job?: JobSettings): Promise<Creation> {
  const { user, key, limits } = caller;
  const now = Date.now();
  const contents = decodeContents(requests);
  const ids = outsideInputs(requests);
  const [earlier, timeLimits] = await Promise.all([ids.length > 0 ? records.tasks(ids) : [], timeLimitsOf(caller)]);
  const outside = new Map(
    earlier.filter((task) => task.user === user && !isDeletedOrExpired(task, now)).map((task) => [task.id, task]),
  );
  const planned = planTasks(requests.map(withoutContent), {
    user,
    ...(key === undefined ? {} : { key }),
    limits,
    timeLimits,
    ...(job === undefined ? {} : { job }),
    now,
    recordSeconds: settings.recordSeconds,
    uploadSeconds: settings.uploadSeconds,
    catalogue,
    outside,
  });
  if ('errors' in planned) throw invalidFields(planned.errors, planned.reason);
  const beyond = await limitProblems(requests, limits, { contents, outside, catalogue });
  if (Object.keys(beyond).length > 0) throw insufficientPermission(beyond);
  const secrets = new Map(requests.map((request) => [request.name, request.secrets]));
  return {
    plan: planned.plan,
    async write(onError) {
      const tasks = await Promise.all(planned.plan.tasks.map((task) => withForm(task)));
      let plan: Plan = { ...planned.plan, tasks };
      for (const task of tasks) {
        if (task.hasSecrets) await storeSecrets(task, secrets.get(task.name) ?? {});
        const content = contents.get(task.name);
        if (content) plan = withFile(plan, task.id, await storeContent(task, content), now);
      }
      return lifecycle.create(plan, onError);
    },
  };
}

function decodeContents(requests: TaskRequest[]): Map<string, Uint8Array> {
  const contents = new Map<string, Uint8Array>();
  const errors: [string, string[]][] = [];
  for (const request of requests) {
    if (request.operation !== 'import/base64') continue;
    const decoded = decodeDataUri(String(request.parameters.file));
    if ('error' in decoded) errors.push([request.path ? `${request.path}.file` : 'file', [decoded.error]]);
    else contents.set(request.name, decoded.bytes);
  }
  if (errors.length > 0) throw invalidFields(Object.fromEntries(errors));
  return contents;
}

// The content is in the bucket; a record of at most 400 KB has no room for it, and the spec requires it to be emptied.
function withoutContent(request: TaskRequest): TaskRequest {
  return request.operation === 'import/base64'
    ? { ...request, parameters: { ...request.parameters, file: '' } }
    : request;
}

async function withForm(task: Task): Promise<Task> {
  if (task.operation !== 'import/upload') return task;
  const maxBytes = Math.min(settings.maxFileBytes, task.limits?.maxFileBytes ?? settings.maxFileBytes);
  return { ...task, ...(await makeUploadForm(task.id, { seconds: settings.uploadSeconds, maxBytes })) };
}

async function storeContent(task: Task, content: Uint8Array) {
  const name = safeName(String(task.payload.filename));
  const detected = await detectFile(catalogue, content, name);
  const mediaType = catalogue.mediaType(detected.format);
  const key = outputKey(task.id, 0, 0);
  await putObject(key, content, mediaType);
  return { key, name, size: content.byteLength, ...detected, mediaType, token: newToken() };
}
