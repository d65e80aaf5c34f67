import type { Random } from '../faults/random.ts';

const twice = 0.1;

/** Sends a message to a queue after a delay in seconds. */
type Send = (queue: string, body: string, delaySeconds?: number) => Promise<void> | void;

/**
 * Returns a sender that notifies queues late, and so out of order, and sometimes twice.
 * Imitates: "Amazon S3 event notifications are designed to be delivered at least once. Typically, event notifications
 * are delivered in seconds but can sometimes take a minute or longer" and "are not guaranteed to arrive in the same
 * order that the events occurred" (S3 user guide, "Amazon S3 Event Notifications", "Event message structure"). Delayed
 * ones are kept in the queue, so that none is lost with this process.
 */
export function lateNotifications(send: Send, random: Random): Send {
  return async (queue, body) => {
    await send(queue, body, notificationDelay(random));
    if (random.chance(twice)) await send(queue, body, notificationDelay(random));
  };
}

function notificationDelay(random: Random): number {
  return random.chance(0.7) ? random.between(0, 1) : random.between(1, 5);
}
