import { ownedRecords } from '../../../shared/aws/stores/owned-records.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { newestJobs, newestTasks } from '../../../shared/lists/list.ts';
import { readNumberSettings } from '../../../shared/settings.ts';
import type { Task } from '../../../shared/tasks/task.ts';

/** As many as fit into one WebSocket message. */
const maxDocs = 25;

/** Returns the newest jobs of a user. */
export function latestJobs(user: string): Promise<Job[]> {
  const now = Date.now();
  return newestJobs(ownedRecords(user, now), windowAt(now));
}

/** Returns the newest tasks of a user. */
export function latestTasks(user: string): Promise<Task[]> {
  const now = Date.now();
  return newestTasks(ownedRecords(user, now), windowAt(now));
}

function windowAt(now: number) {
  const { recordSeconds } = readNumberSettings(process.env);
  return { now, oldest: now - recordSeconds * 1000, skip: 0, limit: maxDocs };
}
