import type { Job, JobEventType } from '../jobs/job.ts';
import type { Change } from '../lifecycle/dependencies.ts';
import { isTask, type Task } from '../tasks/task.ts';

/** A change as it is published to subscribers by whoever wrote the record. */
export type ChangeEvent =
  | { type: 'task'; task: Task; partial?: true }
  | { type: 'job'; job: Job; events: JobEventType[] };

/** Returns a change in the form that is published. */
export function changeEventOf(change: Change): ChangeEvent {
  return 'task' in change ? { type: 'task', task: change.task } : { type: 'job', ...change };
}

/** Returns the task or job that changed. */
export function subjectOf(change: ChangeEvent): Task | Job {
  return change.type === 'task' ? change.task : change.job;
}

/** Returns the id of the group whose changes keep their order: a job with its tasks, or a task without a job. */
export function groupOf(subject: Task | Job): string {
  return isTask(subject) ? (subject.job ?? subject.id) : subject.id;
}

/** Returns whether a change is mere progress, of which only the latest matters. */
export function isProgress(change: ChangeEvent): boolean {
  // A first percentage comes with the start itself only for what started before this run.
  return change.type === 'task' && change.task.status === 'processing' && change.task.progress !== undefined;
}
