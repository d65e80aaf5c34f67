import type { TaskRequest } from '../../../functions/api/creation/plan.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import type { Task } from '../../../shared/tasks/task.ts';

/** The time at which everything that the factories make was created. */
export const createdAt = Date.UTC(2026, 0, 1, 12);

const oneDayMs = 86_400_000;

/** Writes a time as records hold it. */
export function iso(time: number): string {
  return new Date(time).toISOString();
}

/** Makes a task that was just created and waits for nothing. */
export function makeTask(change: Partial<Task> = {}): Task {
  return {
    id: 'a'.repeat(24),
    user: 'f'.repeat(24),
    name: 'work',
    operation: 'export/url',
    status: 'created',
    payload: {},
    dependsOn: [],
    dependents: [],
    files: [],
    attempt: 0,
    createdAt: iso(createdAt),
    updatedAt: iso(createdAt),
    expiresAt: iso(createdAt + oneDayMs),
    version: 1,
    dueAt: createdAt + 120_000,
    ...change,
  };
}

/** Makes a job with one task that was just created. */
export function makeJob(change: Partial<Job> = {}): Job {
  return {
    id: 'b'.repeat(24),
    user: 'f'.repeat(24),
    status: 'created',
    tasks: ['a'.repeat(24)],
    operations: { 'export/url': 1 },
    open: ['a'.repeat(24)],
    dueAt: createdAt + 120_000,
    createdAt: iso(createdAt),
    updatedAt: iso(createdAt),
    expiresAt: iso(createdAt + oneDayMs),
    version: 1,
    ...change,
  };
}

/** Makes a checked request for a task of a job. */
export function makeRequest(name: string, change: Partial<TaskRequest> = {}): TaskRequest {
  return {
    name,
    operation: 'export/url',
    inputs: [],
    parameters: {},
    secrets: {},
    unknownFields: [],
    path: `tasks.${name}`,
    ...change,
  };
}
