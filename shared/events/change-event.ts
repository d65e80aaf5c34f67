import type { Job, JobEventType } from '../jobs/job.ts';
import type { Change } from '../lifecycle/dependencies.ts';
import { isTask, type Task } from '../tasks/task.ts';

/** A change as it is published to subscribers. */
export type ChangeEvent =
  | { type: 'task'; task: Task; partial?: true }
  | { type: 'job'; job: Job; events: JobEventType[] };

/** Returns the published form of a change. */
export function changeEventOf(change: Change): ChangeEvent {
  return 'task' in change ? { type: 'task', task: change.task } : { type: 'job', ...change };
}

/** Returns the task or job that changed. */
export function subjectOf(change: ChangeEvent): Task | Job {
  return change.type === 'task' ? change.task : change.job;
}

/** Returns the id of the group whose changes are ordered: a job with its tasks, or a task without a job. */
export function groupOf(subject: Task | Job): string {
  return isTask(subject) ? (subject.job ?? subject.id) : subject.id;
}

/** Returns whether a change is only progress. Only the latest of those matters. */
export function isProgress(change: ChangeEvent): boolean {
  // The first percentage comes with the start itself only if the task was started by an earlier run.
  return change.type === 'task' && change.task.status === 'processing' && change.task.progress !== undefined;
}
