import type { Random } from '../faults/random.ts';
import type { Queue } from './fauxqs-patches.ts';

const twice = 0.05;
const outOfOrder = 0.3;
const fewer = 0.3;
/** Maximum distance from the oldest message when delivering out of order. */
const reach = 20;
const maxRepeatDelayMs = 4_000;
const failedDeletes = 0.02;

/**
 * Makes a queue deliver out of order, repeatedly, and in smaller batches, as SQS may.
 * Imitates: "On rare occasions, one of the servers that stores a copy of a message might be unavailable when you
 * receive or delete a message. If this occurs, the copy of the message isn't deleted on that unavailable server, and
 * you might get that message copy again" and "best-effort ordering" of standard queues (SQS developer guide, "Amazon
 * SQS at-least-once delivery"); a receive returns up to the requested number of messages. A FIFO queue keeps its order
 * and delivers once.
 */
export function misdeliver(queue: Queue, random: Random): void {
  const dequeue: Queue['dequeue'] = queue.dequeue.bind(queue);
  queue.dequeue = (max, ...rest) => {
    const { messages } = queue;
    if (random.chance(outOfOrder))
      messages.unshift(...messages.splice(random.below(Math.min(reach, messages.length)), 1));
    const received = dequeue(random.chance(fewer) ? 1 + random.below(max) : max, ...rest);
    if (queue.isFifo()) return received;
    for (const { ReceiptHandle } of received) {
      const message = queue.inflightMessages.get(ReceiptHandle)?.message;
      if (message && random.chance(twice)) repeatLater(message);
    }
    return received;
  };

  /** Adds a copy of a message, whether or not the first has been deleted. */
  function repeatLater(message: Queue['messages'][number]): void {
    const timer = setTimeout(
      () => {
        queue.messages.push({ ...message });
        // Wakes waiting receivers.
        queue.processTimers();
      },
      random.between(0, maxRepeatDelayMs),
    );
    timer.unref();
  }
}

/**
 * Returns after how many seconds messages reappear if their deletion fails, or undefined if it succeeds.
 * Imitates: "The result of the action on each message is reported individually in the response. Because the batch
 * request can result in a combination of successful and unsuccessful actions, you should check for batch errors even
 * when the call returns an HTTP status code of 200" (DeleteMessageBatch in the SQS API reference). Undeleted messages
 * of a FIFO queue block their group until they are delivered again, here after seconds instead of the visibility
 * timeout.
 */
export function failedDeletion(random: Random): number | undefined {
  return random.chance(failedDeletes) ? 1 + random.below(2) : undefined;
}
