import { records } from '../../../shared/aws/stores/records.ts';
import { defined } from '../../../shared/defined.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { presentJob, secondsOf } from '../../../shared/jobs/present.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { isDeletedOrExpired, type JsonObject, type Task } from '../../../shared/tasks/task.ts';

/** Lambda limits responses to 6 MB (6,291,456 bytes), including headers and the escaping of the body as a JSON string. */
const maxBodyBytes = 6_000_000;
/** Tasks per read: enough for most lists, but few enough to fit in memory if all are large. */
const tasksPerRead = 300;
const maxMessageLength = 1_000;

/** Returns the size of a value in the response of a function, which is JSON within a JSON string. */
function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(JSON.stringify(value)));
}

/**
 * Presents jobs with as many of their tasks, in order, as fit in a response. Jobs with omitted tasks are marked. Tasks are
 * read unless they are passed.
 */
export async function presentJobsWithTasks(jobs: Job[], known?: Task[]): Promise<JsonObject[]> {
  const views = jobs.map((job) => ({ ...presentJob(job), tasksTruncated: true, tasks: [] }));
  const shown = jobs.map((): { task: Task; view: JsonObject }[] => []);
  const wanted = jobs.flatMap((job, index) => job.tasks.map((id) => ({ id, index })));
  let left = maxBodyBytes - bytesOf(views);
  for (let position = 0; position < wanted.length; position += tasksPerRead) {
    const part = wanted.slice(position, position + tasksPerRead);
    const tasks = known ?? (await records.tasks(part.map(({ id }) => id)));
    const found = new Map(tasks.map((task) => [task.id, task]));
    for (const { id, index } of part) {
      const task = found.get(id);
      if (!task || isDeletedOrExpired(task, Date.now())) continue;
      const view = presentTask(task);
      left -= bytesOf(view);
      if (left < 0) return finish(index);
      shown[index]?.push({ task, view });
    }
  }
  return finish(jobs.length);

  function finish(truncatedFrom: number): JsonObject[] {
    return views.map(({ tasksTruncated, ...view }, index) => ({
      ...view,
      conversionSeconds: secondsOf(shown[index]?.map(({ task }) => task) ?? []),
      tasks: shown[index]?.map((each) => each.view) ?? [],
      ...(index >= truncatedFrom && (jobs[index]?.tasks.length ?? 0) > 0 ? { tasksTruncated } : {}),
    }));
  }
}

/** Presents a job with as many of its tasks as fit in a response. */
export async function presentJobWithTasks(job: Job, tasks?: Task[]): Promise<JsonObject> {
  const [view] = await presentJobsWithTasks([job], tasks);
  return view ?? presentJob(job);
}

/** Omits the large fields of tasks that would exceed the maximum size of a response. */
export function fitTasks(tasks: JsonObject[]): JsonObject[] {
  if (bytesOf(tasks) <= maxBodyBytes) return tasks;
  const short = tasks.map(shortened);
  let left = maxBodyBytes - bytesOf(short);
  return tasks.map((task, index) => {
    const reduced = short[index] ?? {};
    const more = bytesOf(task) - bytesOf(reduced);
    if (more > left) return reduced;
    left -= more;
    return task;
  });
}

function shortened(task: JsonObject): JsonObject {
  const { errorCode, msg, url } = Object(task.result);
  return {
    ...task,
    payload: {},
    dependsOn: [],
    result: defined({
      errorCode,
      msg: typeof msg === 'string' ? msg.slice(0, maxMessageLength).toWellFormed() : undefined,
      url,
    }),
    truncated: true,
  };
}
