import type { Caller } from '../../../shared/accounts/caller.ts';
import { records } from '../../../shared/aws/stores/records.ts';
import { defined } from '../../../shared/defined.ts';
import type { Plan } from '../../../shared/lifecycle/dependencies.ts';
import { isDeletedOrExpired, type JsonObject, type Task } from '../../../shared/tasks/task.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { settings } from '../../wiring/settings.ts';
import { insufficientPermission, invalidFields } from '../http/errors.ts';
import { decodeDataUri } from './data-uri.ts';
import { limitProblems } from './key-limits.ts';
import { type JobSettings, outsideInputs, planTasks, type TaskRequest } from './plan.ts';
import { timeLimitsOf } from './time-limits.ts';

/** Tasks that are validated and planned but not yet written. */
export interface PreparedTasks {
  plan: Plan;
  /** Files sent with the request, by task name. */
  contents: Map<string, Uint8Array>;
  /** Earlier tasks that are inputs, by id. */
  outside: Map<string, Task>;
  /** Secrets, by task name. */
  secrets: Map<string, JsonObject>;
  /** When the plan was made. */
  now: number;
}

/** Validates and plans the tasks of a request. Throws the 400 for invalid tasks, or the 403 if the key does not allow them. */
export async function prepareTasks(
  requests: TaskRequest[],
  caller: Caller,
  job?: JobSettings,
  contents: Map<string, Uint8Array> = decodeContents(requests),
): Promise<PreparedTasks> {
  const { user, key, limits } = caller;
  const now = Date.now();
  const ids = outsideInputs(requests);
  const [earlier, timeLimits] = await Promise.all([ids.length > 0 ? records.tasks(ids) : [], timeLimitsOf(caller)]);
  const outside = new Map(
    earlier.filter((task) => task.user === user && !isDeletedOrExpired(task, now)).map((task) => [task.id, task]),
  );
  const { recordSeconds, uploadSeconds } = settings;
  const planned = planTasks(
    requests.map(withoutContent),
    defined({ user, key, limits, timeLimits, job, now, recordSeconds, uploadSeconds, catalogue, outside }),
  );
  if ('errors' in planned) throw invalidFields(planned.errors, planned.reason);
  const forbidden = await limitProblems(requests, limits, { contents, outside, catalogue });
  if (Object.keys(forbidden).length > 0) throw insufficientPermission(forbidden);
  const secrets = new Map(requests.map((request) => [request.name, request.secrets]));
  return { plan: planned.plan, contents, outside, secrets, now };
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

// The spec requires the field to be emptied, and a record of at most 400 KB has no room for the content.
function withoutContent(request: TaskRequest): TaskRequest {
  return request.operation === 'import/base64'
    ? { ...request, parameters: { ...request.parameters, file: '' } }
    : request;
}
