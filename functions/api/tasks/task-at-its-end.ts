import type { Caller } from '../../../shared/accounts/caller.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { hasEnded, type JsonObject, type Task } from '../../../shared/tasks/task.ts';
import { ownedTask } from '../http/find-owned.ts';
import type { Hold } from '../http/route.ts';
import { type Waited, waitUntil } from '../http/wait-until.ts';

/** Waits for the end of a task, and presents it; as it is, if the request cannot wait that long. */
export function taskAtItsEnd(
  id: string,
  { account, remainingMs, hold }: { account: Caller; remainingMs(): number; hold: Hold },
): Promise<Waited<JsonObject>> {
  return waitUntil<Task, JsonObject>({
    read: () => ownedTask(account, id),
    present: presentTask,
    kindOf: ({ user, operation }) => `${user} ${operation}`,
    isDone: hasEnded,
    remainingMs,
    hold,
  });
}
