import { Logger } from '@aws-lambda-powertools/logger';
import { defaultPace } from '../../functions/transfers/pace.ts';
import type { TransferSettings } from '../../functions/transfers/receive.ts';
import type { Run } from '../../functions/worker/worker.ts';
import { newId } from '../../shared/ids.ts';
import type { JsonObject, Task } from '../../shared/tasks/task.ts';

/** Makes a run of an operation as the worker does. */
export function makeRun(operation: string, parameters: JsonObject, inputs: Task[] = []): Run & { abort(): void } {
  const task = makeTask(operation, parameters);
  const controller = new AbortController();
  return {
    task,
    secrets: [],
    parameters,
    attempt: 1,
    inputs,
    signal: controller.signal,
    deadline: Date.now() + 900_000,
    progress: () => undefined,
    logger: new Logger({ logLevel: 'SILENT' }),
    abort: () => controller.abort(new Error('The task was canceled.')),
  };
}

/** Makes a task that is being worked on. */
export function makeTask(operation: string, payload: JsonObject): Task {
  const now = new Date().toISOString();
  return {
    id: newId(Date.now()),
    user: newId(Date.now()),
    name: 'transfer',
    operation,
    status: 'processing',
    payload,
    dependsOn: [],
    dependents: [],
    files: [],
    attempt: 1,
    createdAt: now,
    updatedAt: now,
    expiresAt: now,
    version: 1,
  };
}

/** Returns settings with short timeouts that let transfers reach the loopback address. */
export function makeSettings(change: Partial<TransferSettings> = {}): TransferSettings {
  return {
    retryPolicy: { maxAttempts: 4, backoffMs: 1, idleTimeoutMs: 2_000 },
    pace: defaultPace,
    outbound: { allow: new Set(['127.0.0.1']) },
    maxFileBytes: 500_000_000,
    ...change,
  };
}
