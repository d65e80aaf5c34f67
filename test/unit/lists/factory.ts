import { firstIdAt, taskIdsOf } from '../../../shared/ids.ts';
import type { Job, JobStatus } from '../../../shared/jobs/job.ts';
import type { Task, TaskStatus } from '../../../shared/tasks/task.ts';
import { iso, makeJob, makeTask } from '../tasks/factory.ts';
import { MemoryOwned } from './memory-owned.ts';

const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
/** When the first records of these tests are created: not at the start of an hour, nor of a slot. */
export const start = Date.UTC(2026, 0, 1, 9, 13, 7);
const operations = ['import/upload', 'convert', 'export/url'];

let made = 0;

/** Makes the id of a group that was created at a time, whichever was made before. */
function idAt(created: number): string {
  made += 1;
  return `${firstIdAt(created).slice(0, 16)}${made.toString(16).padStart(8, '0')}`;
}

/** Makes a task without a job. */
export function makeAlone(created: number, status: TaskStatus = 'completed'): { tasks: Task[] } {
  return { tasks: [makeTask({ ...common(created), id: idAt(created), operation: 'convert', status })] };
}

/** Makes a job with tasks of these statuses, whose operations are an upload, a conversion and an export in turn. */
export function makeGroup(created: number, status: JobStatus, statuses: TaskStatus[]): { job: Job; tasks: Task[] } {
  const id = idAt(created);
  const ids = taskIdsOf(id, statuses.length);
  const tasks = statuses.map((each, index) =>
    makeTask({
      ...common(created),
      id: ids[index] ?? '',
      operation: operations[index % operations.length] ?? '',
      status: each,
      job: id,
    }),
  );
  const counts: Record<string, number> = {};
  for (const { operation } of tasks) counts[operation] = (counts[operation] ?? 0) + 1;
  return { job: makeJob({ ...common(created), id, status, tasks: ids, operations: counts }), tasks };
}

function common(created: number) {
  return { createdAt: iso(created), expiresAt: iso(created + dayMs) };
}

export const makeCompleted = (created: number) =>
  makeGroup(created, 'completed', ['completed', 'completed', 'completed']);
export const makeFailed = (created: number) => makeGroup(created, 'failed', ['completed', 'failed', 'failed']);
export const makeRunning = (created: number) =>
  makeGroup(created, 'processing', ['completed', 'processing', 'created']);

/** Makes an owner with a job every two minutes over 23 hours, and some tasks without a job. A fifth of the jobs failed. */
export function makeBusyOwner(): MemoryOwned {
  const owned = new MemoryOwned(start + 23 * hourMs);
  for (let minute = 0; minute < 23 * 60; minute += 2) {
    const created = start + minute * 60_000;
    owned.write(
      minute % 40 === 14 ? makeAlone(created) : minute % 10 === 0 ? makeFailed(created) : makeCompleted(created),
    );
  }
  return owned;
}

/** Returns the window of a page, of what has not expired. */
export function windowOf({ now }: MemoryOwned, skip = 0, limit = 50) {
  return { now, oldest: now - dayMs, skip, limit };
}
