import { changeEventOf } from '../../events/change-event.ts';
import type { Change } from '../../lifecycle/dependencies.ts';
import { busEventsOf, parseBusScope } from '../bus-events.ts';
import { publish as sendChanges } from '../events.ts';
import { hasSubscribers } from './account-subscribers.ts';

/** How long the end of a job may wait for an unresponsive bus before it is queued instead. */
const timeoutMs = 1_000;

const scope = parseBusScope(process.env.LATHE_BUS_EVENTS);

/**
 * Publishes changes of one account that has subscribers. Without subscribers, the end of a job is put straight on the
 * bus, without the queue and the relay; returns false for anything else.
 */
export async function publish(changes: Change[]): Promise<boolean> {
  if (await isListenedTo(changes)) {
    await sendChanges(changes);
    return true;
  }
  const forBus = changes
    .map((change) => ({ change, events: busEventsOf(changeEventOf(change), scope) }))
    .filter(({ events }) => events.length > 0);
  if (forBus.length === 0) return false;
  // Loaded on demand: few functions end jobs.
  const { putEvents } = await import('../bus.ts');
  const refused = await putEvents(
    forBus.flatMap(({ events }) => events),
    timeoutMs,
  );
  if (refused.length > 0) await sendChanges(forBus.map(({ change }) => change));
  return true;
}

async function isListenedTo(changes: Change[]): Promise<boolean> {
  const [first] = changes;
  if (!first) return false;
  if (scope !== 'jobs' || changes.some((change) => 'job' in change && change.job.webhook !== undefined)) return true;
  return hasSubscribers('task' in first ? first.task.user : first.job.user);
}
