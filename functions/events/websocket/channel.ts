import { isId } from '../../../shared/ids.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { isTask, type Task } from '../../../shared/tasks/task.ts';

export type Channel = { kind: 'job' | 'task'; id: string } | { kind: 'jobs' | 'tasks'; user: string };

/** Parses the name of a channel; returns undefined if it is invalid. */
export function parseChannel(name: string): Channel | undefined {
  const [first, id = '', third, ...rest] = name.split('.');
  if (!isId(id) || rest.length > 0) return undefined;
  if ((first === 'job' || first === 'task') && third === undefined) return { kind: first, id };
  return first === 'user' && (third === 'jobs' || third === 'tasks') ? { kind: third, user: id } : undefined;
}

/** Returns the channels that carry changes of a task or job, narrowest first. */
export function channelsOf(subject: Task | Job): string[] {
  if (!isTask(subject)) return [`job.${subject.id}`, `user.${subject.user}.jobs`];
  return [`task.${subject.id}`, ...(subject.job ? [`job.${subject.job}`] : []), `user.${subject.user}.tasks`];
}
