import { RequestError, request } from './request.ts';
import type { Job } from './types.ts';

/** Cancels a job: its first open tasks, which also cancels their dependents. */
export async function cancelJob({ tasks = [] }: Job): Promise<void> {
  const open = tasks.filter(({ endedAt }) => endedAt === null);
  const first = open.filter(({ dependsOn }) => !open.some(({ id }) => dependsOn.includes(id)));
  await Promise.all(first.map(({ id }) => cancelTask(id)));
}

async function cancelTask(id: string): Promise<void> {
  try {
    await request('POST', `/v1/process/tasks/${id}/cancel`);
  } catch (error) {
    // It has ended in the meantime.
    if (!(error instanceof RequestError && error.status === 409)) throw error;
  }
}
