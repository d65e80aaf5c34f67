import type { buildApp } from 'fauxqs';

/** The stores of fauxqs, which exports no name for them. */
export type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>;
type Queue = ReturnType<Stores['sqsStore']['createQueue']>;
type Dequeue = Queue['dequeue'];

/**
 * Makes a FIFO queue of fauxqs 2.4 hand out as many messages of a group as it is asked for, in their order, as SQS does.
 * By itself it hands out one and holds the others back until that one is deleted.
 */
export function handOutGroups(queue: Queue): void {
  const dequeue: Dequeue = queue.dequeue.bind(queue);
  const processTimers = queue.processTimers.bind(queue);
  queue.processTimers = () => {
    const inFlight = queue.inflightMessages.size;
    processTimers();
    // It puts those that come back in front one by one, the last of a group before the first.
    if (queue.inflightMessages.size < inFlight) for (const group of queue.fifoMessages.values()) group.sort(bySequence);
  };
  queue.dequeue = (most, ...rest) => {
    const received = dequeue(most, ...rest);
    const groups = received.map(
      ({ ReceiptHandle }) => queue.inflightMessages.get(ReceiptHandle)?.message.messageGroupId ?? '',
    );
    for (const group of groups) {
      const missing = Math.min(most, 10) - received.length;
      for (let count = 0; count < missing; count++) {
        const more = dequeueOf(group, () => dequeue(1, ...rest));
        if (more.length === 0) break;
        received.push(...more);
      }
    }
    return received;
  };

  /** Takes from one group that is locked, by messages of the same receive, and leaves it locked by one more. */
  function dequeueOf(group: string, take: () => ReturnType<Dequeue>): ReturnType<Dequeue> {
    const { fifoMessages, processTimers: process } = queue;
    const waiting = fifoMessages.get(group);
    if (!waiting) return [];
    const locks = queue.fifoLockedGroups.get(group) ?? 0;
    queue.fifoLockedGroups.delete(group);
    queue.fifoMessages = new Map([[group, waiting]]);
    // What came back now would be put among the messages of this group alone.
    queue.processTimers = () => undefined;
    try {
      return take();
    } finally {
      queue.processTimers = process;
      queue.fifoMessages = fifoMessages;
      const now = locks + (queue.fifoLockedGroups.get(group) ?? 0);
      if (now > 0) queue.fifoLockedGroups.set(group, now);
      if (waiting.length === 0) fifoMessages.delete(group);
    }
  }
}

function bySequence(left: { sequenceNumber?: string }, right: { sequenceNumber?: string }): number {
  return (left.sequenceNumber ?? '') < (right.sequenceNumber ?? '') ? -1 : 1;
}
