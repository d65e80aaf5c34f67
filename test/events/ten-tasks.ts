import { type JobView, postForm, type TaskDefinition, taskOf } from '../support/client.ts';
import type { Received } from './subscribers.ts';

/** A job of ten tasks that waits for an upload, so that a client can subscribe to it from its creation. */
export const tenTasks: Record<string, TaskDefinition> = {
  import: { operation: 'import/upload' },
  ...Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [`export-${index}`, { operation: 'export/url', input: 'import' }]),
  ),
};

/** Sets the job going. */
export async function upload(job: JobView): Promise<void> {
  const { form } = taskOf(job, 'import').result;
  if (!form) throw new Error('The upload task has no form.');
  const answer = await postForm(form, 'note.txt', Buffer.from('A file of one line.\n'));
  if (!answer.ok) throw new Error(`The upload answered ${answer.status}.`);
}

/** Lists what is wrong with what a client received of a job; one that was disconnected may have missed what is said to be missing. */
export function findFaults(job: JobView, received: Received[]): string[] {
  const faults: string[] = [];
  const positions = new Map<string, number>();
  for (const [position, { event, id }] of received.entries()) {
    if (event !== 'task_updated' && positions.has(`${event} ${id}`)) faults.push(`${event} of ${id} came twice`);
    positions.set(`${event} ${id}`, position);
  }
  const place = (event: string, id: string): number => {
    const position = positions.get(`${event} ${id}`);
    if (position === undefined) faults.push(`${event} of ${id} never came`);
    return position ?? -1;
  };
  const imported = place('task_completed', taskOf(job, 'import').id);
  for (const { id, name } of job.tasks) {
    const started = place('task_started', id);
    if (place('task_completed', id) < started) faults.push(`${name} ended before it started`);
    if (name !== 'import' && started >= 0 && started < imported) faults.push(`${name} started before its input ended`);
  }
  if (place('job_completed', job.id) !== received.length - 1) faults.push('the end of the job did not come last');
  if (place('job_started', job.id) !== 0) faults.push('the start of the job did not come first');
  return faults;
}

/** Lists where one connection received an earlier state after a later one, or the same event under another version. */
export function findStale(received: Received[]): string[] {
  const latest = new Map<string, number>();
  const versions = new Map<string, number>();
  return received.flatMap(({ event, id, version, connection }) => {
    const key = `${connection} ${id}`;
    const before = latest.get(key) ?? 0;
    latest.set(key, Math.max(before, version));
    if (version < before) return [`${event} of ${id} showed version ${version} after ${before}`];
    const first = versions.get(`${key} ${event}`) ?? version;
    versions.set(`${key} ${event}`, first);
    return event !== 'task_updated' && first !== version ? [`${event} of ${id} came as ${first} and ${version}`] : [];
  });
}
