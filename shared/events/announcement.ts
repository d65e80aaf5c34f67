import type { Job, JobNews } from '../jobs/job.ts';
import type { Change } from '../lifecycle/lifecycle.ts';
import type { Task } from '../tasks/task.ts';

/** A change as it travels from whoever wrote the record to the listeners. */
export type Announcement = { type: 'task'; task: Task; partial?: true } | { type: 'job'; job: Job; news: JobNews[] };

/** Returns what an announcement makes of a change. */
export function announcementOf(change: Change): Announcement {
  return 'task' in change ? { type: 'task', task: change.task } : { type: 'job', ...change };
}

/** Tells which task or job a change is of. */
export function subjectOf(announcement: Announcement): Task | Job {
  return announcement.type === 'task' ? announcement.task : announcement.job;
}

/** Returns what keeps order among changes: a job with all its tasks, or a task of its own. */
export function groupOf(subject: Task | Job): string {
  return 'waitsFor' in subject ? (subject.job ?? subject.id) : subject.id;
}

/** Tells whether a change is mere progress, of which only the latest matters. */
export function isProgress(announcement: Announcement): boolean {
  // A first percentage comes with the start itself only for what started before this run.
  return (
    announcement.type === 'task' &&
    announcement.task.status === 'processing' &&
    announcement.task.progress !== undefined
  );
}
