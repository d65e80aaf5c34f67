import { defined } from '../defined.ts';
import { presentTask } from '../tasks/present.ts';
import { type JsonObject, revisionOf, type Task } from '../tasks/task.ts';
import type { Job } from './job.ts';

/** Returns a job as the API presents it, with its tasks if they are given. */
export function presentJob(job: Job, tasks?: Task[]): JsonObject {
  return {
    id: job.id,
    version: revisionOf(job),
    ...defined({ tag: job.tag }),
    status: job.status,
    createdAt: job.createdAt,
    updatedAt: job.updatedAt,
    startedAt: job.startedAt ?? null,
    endedAt: job.endedAt ?? null,
    expiresAt: job.expiresAt,
    result: job.failure ? { ...job.failure } : {},
    ...(tasks ? { conversionSeconds: secondsOf(tasks), tasks: tasks.map(presentTask) } : {}),
  };
}

/** Returns the total engine time of tasks in seconds. */
export function secondsOf(tasks: Task[]): number {
  return tasks.reduce((sum, { meter }) => sum + (meter?.usedMs ?? 0), 0) / 1000;
}
