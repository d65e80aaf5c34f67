/**
 * Patches fauxqs 2.4 for messages that it loses or refuses but SQS does not. Each patch names the upstream change that
 * ends it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { DatabaseSync } from 'node:sqlite';
import type { buildApp } from 'fauxqs';
import { FairOrder } from './fair-order.ts';

/** The stores of fauxqs, which exports no type for them. */
type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>;
export type SqsStore = Stores['sqsStore'];
export type Queue = ReturnType<SqsStore['createQueue']>;
type Dequeue = Queue['dequeue'];

interface Persistence {
  readonly db: DatabaseSync;
  loadSqsAndSns(sqs: SqsStore, sns: Stores['snsStore']): void;
  updateMessageReady(messageId: string): void;
  transaction(work: () => void): void;
  close(): void;
}

/**
 * Loads the unexported modules of fauxqs, patched. Its startFauxqs listens on all addresses of the machine, and its
 * buildApp is not persistent unless it is given persistent stores, which only these modules create.
 * Not reported yet: buildApp has no option for a data folder.
 */
export async function loadFauxqs() {
  const file = (path: string) => new URL(path, import.meta.resolve('fauxqs')).href;
  const [sqs, types, sns, s3, persistence] = await Promise.all([
    import(file('sqs/sqsStore.js')),
    import(file('sqs/sqsTypes.js')),
    import(file('sns/snsStore.js')),
    import(file('s3/s3Store.js')),
    import(file('persistence.js')),
  ]);
  const SqsStore: {
    new (): SqsStore;
    createMessage(
      body: string,
      attributes: object,
      delaySeconds?: number,
    ): Parameters<ReturnType<SqsStore['createQueue']>['enqueue']>[0];
  } = sqs.SqsStore;
  const SnsStore: new () => Stores['snsStore'] = sns.SnsStore;
  const S3Store: new () => Stores['s3Store'] = s3.S3Store;
  const PersistenceManager: new (directory: string) => Persistence = persistence.PersistenceManager;
  acceptSupplementaryCharacters(types.INVALID_MESSAGE_BODY_CHAR);
  return { SqsStore, SnsStore, S3Store, PersistenceManager };
}

/** Patches the stores once their queues are loaded, and makes them persistent. */
export function patchStores(
  sqsStore: SqsStore,
  persistence: Persistence,
  maxOfGroup: (queue: string) => number | undefined,
): void {
  keepReleasedMessages(persistence);
  // fauxqs looks up some queues by an ARN of its built-in account. There is one account and region, so the name is
  // enough. Not reported yet: the account of buildApp's stores cannot be set.
  sqsStore.getQueueByArn = (arn) => sqsStore.getQueueByName(arn.split(':').at(-1) ?? '');
  // Set last, so that loading does not write.
  for (const target of [sqsStore, ...sqsStore.allQueues()]) Object.assign(target, { persistence });
  for (const queue of sqsStore.allQueues()) {
    receiveTraces(queue);
    if (queue.isFifo()) receiveWholeGroups(queue);
    else receiveFairly(queue, maxOfGroup(queue.name) ?? Number.POSITIVE_INFINITY);
    receiveInTransaction(queue, persistence);
  }
}

/** Makes a queue return the sender's trace header with each message. */
function receiveTraces(queue: Queue): void {
  const enqueue = queue.enqueue.bind(queue);
  const dequeue: Dequeue = queue.dequeue.bind(queue);
  queue.enqueue = (message) => {
    const { trace } = sending.getStore() ?? {};
    if (trace !== undefined) traces.set(message, trace);
    enqueue(message);
  };
  queue.dequeue = (...args) => {
    const received = dequeue(...args);
    for (const each of received) {
      const message = queue.inflightMessages.get(each.ReceiptHandle)?.message;
      const trace = message && traces.get(message);
      if (trace === undefined) continue;
      let attributes: object | undefined;
      // fauxqs sets all requested attributes at once.
      Object.defineProperty(each, 'Attributes', {
        enumerable: true,
        get: () => attributes,
        set: (others: object) => {
          attributes = { ...others, AWSTraceHeader: trace };
        },
      });
    }
    return received;
  };
}

/** Accepts characters above U+FFFF in messages, as SQS does. Fixed in fauxqs 2.9.1 (kibertoad/fauxqs#278). */
function acceptSupplementaryCharacters(invalidCharacters: RegExp): void {
  const outsideXml = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
  Object.assign(invalidCharacters, { test: (text: string) => outsideXml.test(text) });
}

/**
 * Keeps messages whose visibility timeout is set to 0.
 * Not reported yet: updateMessageReady sets the NOT NULL column approximate_receive_count to null, which throws after
 * the message has left the memory (2.4 to 2.9.2).
 */
function keepReleasedMessages(persistence: Persistence): void {
  const ready = persistence.db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = (messageId) => {
    ready.run(messageId);
  };
}

/**
 * Commits a whole receive in one transaction, so that a message is always in its queue or the dead-letter queue. Not
 * reported yet: a kill during a receive can lose a message on its way to the dead-letter queue.
 */
function receiveInTransaction(queue: Queue, persistence: Persistence): void {
  const dequeue: Dequeue = queue.dequeue.bind(queue);
  queue.dequeue = (...args) => {
    let received: ReturnType<Dequeue> = [];
    persistence.transaction(() => {
      received = dequeue(...args);
    });
    return received;
  };
}

interface Sent {
  /** The messages that the current request sends. */
  entries: { MessageBody?: unknown; MessageGroupId?: unknown }[];
  trace: string | undefined;
}

const sending = new AsyncLocalStorage<Sent>();
/** Trace headers of messages, known to this process only. */
const traces = new WeakMap<object, string>();

/**
 * Handles a request so that messages to a standard queue keep their groups, and all messages their sender's trace
 * header. Not reported yet: SendMessage ignores MessageGroupId on a standard queue, and ReceiveMessage returns no
 * AWSTraceHeader (2.4 to 2.9.2).
 */
export function keepSent({ headers }: IncomingMessage, body: Buffer, handle: () => void): void {
  if (!/^AmazonSQS\.SendMessage(Batch)?$/.test(String(headers['x-amz-target']))) {
    handle();
    return;
  }
  const request = Object(JSON.parse(body.toString()));
  const entries = Array.isArray(request.Entries) ? [...request.Entries] : [request];
  sending.run({ entries, trace: headers['x-amzn-trace-id']?.toString() }, handle);
}

function groupSent(body: string): string | undefined {
  const { entries = [] } = sending.getStore() ?? {};
  const index = entries.findIndex(({ MessageBody }) => MessageBody === body);
  const [entry] = index < 0 ? [] : entries.splice(index, 1);
  return typeof entry?.MessageGroupId === 'string' ? entry.MessageGroupId : undefined;
}

/**
 * Makes a standard queue deliver fairly by message group, as SQS does. It also limits the messages in flight of one
 * group, and then delivers one at a time: a machine has few consumers, and one is kept free for other groups.
 */
function receiveFairly(queue: Queue, maxOfGroup: number): void {
  const order = new FairOrder();
  const mayGo = ({ messageGroupId }: { messageGroupId?: string | undefined }) =>
    messageGroupId === undefined || order.inFlightOf(messageGroupId) < maxOfGroup;
  const limited = Number.isFinite(maxOfGroup);
  const notify: () => void = Reflect.get(queue, 'notifyWaiters').bind(queue);
  const notifyWaiters = () => {
    settle();
    if (!limited || queue.messages.some(mayGo)) notify();
  };
  Object.assign(queue, { notifyWaiters });
  /** Stops counting messages that have become visible again. */
  const settle = (now = Date.now()) =>
    order.ended(
      order.handles.filter((handle) => !queue.inflightMessages.has(handle)),
      now,
    );
  const enqueue = queue.enqueue.bind(queue);
  queue.enqueue = (message) => {
    const messageGroupId = message.messageGroupId ?? groupSent(message.body);
    enqueue(messageGroupId === undefined ? message : { ...message, messageGroupId });
  };
  const dequeue: Dequeue = queue.dequeue.bind(queue);
  const deleteMessage = queue.deleteMessage.bind(queue);
  const groups = () => new Set(queue.messages.map(({ messageGroupId }) => messageGroupId));
  queue.deleteMessage = (handle) => {
    order.ended([handle], Date.now());
    const isDeleted = deleteMessage(handle);
    if (limited) notifyWaiters();
    return isDeleted;
  };
  queue.dequeue = (max, ...rest) => {
    // Processed now, so that messages that become visible are ordered with the others.
    queue.processTimers();
    const now = Date.now();
    settle(now);
    const ready = queue.messages.filter(mayGo);
    if (limited && ready.length === 0) return [];
    if (groups().size > 1) {
      const first = new Set(order.choose(ready, max, now));
      queue.messages = [...first, ...queue.messages.filter((message) => !first.has(message))];
    }
    const received = dequeue(limited ? 1 : max, ...rest);
    const left = groups();
    for (const { ReceiptHandle } of received) {
      const group = queue.inflightMessages.get(ReceiptHandle)?.message.messageGroupId;
      if (group === undefined) continue;
      order.received(ReceiptHandle, group, now);
      if (!left.has(group)) order.drained(group, now);
    }
    return received;
  };
}

/**
 * Makes a FIFO queue return as many messages of a group as requested, in order, as SQS does.
 * Not reported yet: ReceiveMessage on a FIFO queue returns at most one message of each group (2.4 to 2.9.2), and
 * messages of a group whose visibility timeouts expire together come back in reverse order.
 */
function receiveWholeGroups(queue: Queue): void {
  const dequeue: Dequeue = queue.dequeue.bind(queue);
  const processTimers = queue.processTimers.bind(queue);
  queue.processTimers = () => {
    const inFlight = queue.inflightMessages.size;
    processTimers();
    // fauxqs puts expired messages in front one by one, which reverses their order.
    if (queue.inflightMessages.size < inFlight) for (const group of queue.fifoMessages.values()) group.sort(bySequence);
  };
  queue.dequeue = (max, ...rest) => {
    const received = dequeue(max, ...rest);
    const groups = received.map(
      ({ ReceiptHandle }) => queue.inflightMessages.get(ReceiptHandle)?.message.messageGroupId ?? '',
    );
    for (const group of groups) {
      const missing = Math.min(max, 10) - received.length;
      for (let count = 0; count < missing; count++) {
        const more = dequeueOf(group, () => dequeue(1, ...rest));
        if (more.length === 0) break;
        received.push(...more);
      }
    }
    return received;
  };

  /** Takes one more message from a group that is locked by the same receive, and keeps it locked. */
  function dequeueOf(group: string, take: () => ReturnType<Dequeue>): ReturnType<Dequeue> {
    const { fifoMessages, processTimers: process } = queue;
    const waiting = fifoMessages.get(group);
    if (!waiting) return [];
    const locks = queue.fifoLockedGroups.get(group) ?? 0;
    queue.fifoLockedGroups.delete(group);
    queue.fifoMessages = new Map([[group, waiting]]);
    // Messages that become visible now would be sorted into this group.
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
