import type { Caller } from '../../../shared/accounts/caller.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import { ownedJob } from '../http/find-owned.ts';
import { presentJobWithTasks } from '../http/response-size.ts';
import type { Hold } from '../http/route.ts';
import { type Waited, waitUntil } from '../http/wait-until.ts';

/** Waits for the end of a job, and presents it; as it is, if the request cannot wait that long. */
export function jobAtItsEnd(
  id: string,
  { account, remainingMs, hold }: { account: Caller; remainingMs(): number; hold: Hold },
): Promise<Waited<JsonObject>> {
  return waitUntil({
    read: () => ownedJob(account, id),
    present: (job) => presentJobWithTasks(job),
    kindOf: ({ user, tasks }) => `${user} ${tasks.length} tasks`,
    // A job fails with its first failed task but ends with its last, because independent branches continue.
    isDone: ({ endedAt }) => endedAt !== undefined,
    remainingMs,
    hold,
  });
}
