import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@aws-lambda-powertools/logger';
import { type EventMessage, sendEvents } from '../../../shared/aws/events.ts';
import { records } from '../../../shared/aws/stores/records.ts';
import { isStillValid } from '../../../shared/aws/stores/tokens.ts';
import { type ChangeEvent, groupOf, subjectOf } from '../../../shared/events/change-event.ts';
import {
  type Cursor,
  cursorOf,
  eventFor,
  jobAt,
  laterOf,
  phaseOf,
  phases,
  taskAt,
} from '../../../shared/events/event-names.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { presentJob } from '../../../shared/jobs/present.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { isTask, type JsonObject, type Task } from '../../../shared/tasks/task.ts';
import { channelsOf, parseChannel } from '../websocket/channel.ts';
import {
  completeSnapshot,
  partitionOfGroup,
  partitionOfUser,
  readConnection,
  readGroup,
  readUserSubscribers,
  removeSubscriber,
  type Subscriber,
  saveCursor,
  saveSnapshot,
  saveSnapshotPosition,
} from '../websocket/connections.ts';
import { encode, type Message } from '../websocket/dialect.ts';
import { pingSeconds } from '../websocket/pings.ts';
import { openPacket } from '../websocket/socket-io-packets.ts';
import { disconnect, post } from '../websocket/sockets.ts';

/** Time for the connect route to return; a packet sent earlier would be lost. */
export const openAfterMs = 50;
const openTimeoutMs = 3_000;
const sentBetweenSaves = 50;

/** Handles a message of the queue. */
export type Relay = (message: EventMessage) => Promise<void>;

/**
 * Creates the relay for one batch of messages. The queue delivers the messages of a job in order, so no other relay sends
 * events of that job at the same time, and the cursor can be saved after the event is sent.
 */
export function relayFor(logger: Logger): Relay {
  const audience = audienceOfBatch();
  return (message) => {
    if (message.type === 'opened') return open(message.connection);
    if (message.type === 'abandoned') return disconnect(message.connection);
    if (message.type === 'subscribed') return sendSnapshot(message, audience, logger);
    return broadcast(message.change, audience, logger);
  };
}

type Group = Awaited<ReturnType<typeof readGroup>>;

interface Audience {
  group(name: string): Promise<Group>;
  ofUser(user: string): Promise<Subscriber[]>;
}

/**
 * Reads subscribers once per batch. None is missed: a subscription to a job starts with a message of the same job. A later
 * subscriber to a user receives the recorded state, which includes the whole batch.
 */
function audienceOfBatch(): Audience {
  return { group: cached(readGroup), ofUser: cached(readUserSubscribers) };
}

function cached<T>(read: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (name) => {
    const reading = known.get(name) ?? read(name);
    known.set(name, reading);
    return reading;
  };
}

async function open(connection: string): Promise<void> {
  const deadline = Date.now() + openTimeoutMs;
  do {
    await pause(openAfterMs);
    if ((await post(connection, openPacket(connection, pingSeconds))) === 'sent') return;
    // A connection without a record is closed, and must not delay the rest of the batch.
  } while (Date.now() < deadline && (await readConnection(connection)));
}

async function broadcast(change: ChangeEvent, audience: Audience, logger: Logger): Promise<void> {
  const subject = await fullSubject(change);
  const group = groupOf(subject);
  const [{ subscribers, cursors }, userSubscribers] = await Promise.all([
    audience.group(group),
    audience.ofUser(subject.user),
  ]);
  const channels = channelsOf(subject);
  const isTarget = ({ channel, snapshot }: Subscriber) => snapshot !== undefined && channels.includes(channel);
  const all = [...subscribers, ...userSubscribers];
  const targets = all.filter(isTarget);
  if (targets.length === 0) return;
  const cursor = cursorOf(subject);
  const last = cursors.get(subject.id);
  const data = isTask(subject) ? presentTask(subject) : await presentFullJob(subject);
  await Promise.all(
    // Once per connection, on its narrowest channel.
    [...Map.groupBy(targets, ({ connection }) => connection).values()].map(async (own) => {
      const [subscriber] = own.toSorted((a, b) => channels.indexOf(a.channel) - channels.indexOf(b.channel));
      const event = eventFor(subject, laterOf(last, cursorBy(own, subject.id)));
      if (!subscriber || !event) return;
      const place = { group, user: subject.user, subscribers: all };
      await deliver(subscriber, place, { event, channel: subscriber.channel, data }, logger);
    }),
  );
  // Never returns to an earlier phase, regardless of the version: an end must be the last event sent.
  if (last && (last.version >= cursor.version || last.phase > cursor.phase)) return;
  const saved = { ...cursor, userConnections: userSubscribers.filter(isTarget).map(({ connection }) => connection) };
  await saveCursor(group, subject, saved);
  cursors.set(subject.id, saved);
}

/** Returns the task or job of a change. Reads a task that did not fit the message, if it still exists. */
async function fullSubject(change: ChangeEvent): Promise<Task | Job> {
  if (change.type === 'job' || !change.partial) return subjectOf(change);
  const { task } = change;
  const record = await records.task(task.id);
  return record && phaseOf(record) === phaseOf(task) ? record : task;
}

/** Returns a job as the API presents it, with the current state of its tasks. */
export async function presentFullJob(job: Job): Promise<JsonObject> {
  return presentJob(job, await tasksOf(job));
}

async function tasksOf(job: Job): Promise<Task[]> {
  const found = new Map((await records.tasks(job.tasks)).map((task) => [task.id, task]));
  return job.tasks.flatMap((id) => found.get(id) ?? []).filter(({ status }) => status !== 'deleted');
}

function cursorBy(subscribers: Subscriber[], id: string): Cursor | undefined {
  return subscribers.map(({ snapshot }) => snapshot?.get(id)).reduce(laterOf, undefined);
}

/**
 * Sends a new subscriber the current state as events; a repeated subscriber only receives what it is missing. The snapshot
 * is saved first, so that a redelivered message sends the same one. Later changes have their own messages.
 */
async function sendSnapshot(
  { connection, channel, group, again }: Extract<EventMessage, { type: 'subscribed' }>,
  audience: Audience,
  logger: Logger,
): Promise<void> {
  const [{ subscribers, cursors }, now] = await Promise.all([audience.group(group), readState(channel)]);
  const subscriber = subscribers.find((one) => one.connection === connection && one.channel === channel);
  if (!subscriber || !now) return;
  const partition = partitionOfGroup(group);
  const isInterrupted = subscriber.snapshotPosition !== undefined;
  const isCurrent = subscriber.snapshot !== undefined && !isInterrupted;
  if (isCurrent && !again) return;
  const { subject, tasks } = isInterrupted ? asInSnapshot(now, subscriber.snapshot) : now;
  const all = isTask(subject) ? [subject] : inOrder(subject, tasks);
  // Skips what this connection has received on this or another channel.
  const sources = subscribers.filter((one) =>
    one === subscriber ? isCurrent : one.connection === connection && one.snapshot !== undefined,
  );
  const eventOf = (one: Task | Job) => {
    const last = cursors.get(one.id);
    const own = sources.filter((source) => channelsOf(one).includes(source.channel));
    const isKnown = own.length > 0 || last?.userConnections.includes(connection);
    return eventFor(one, isKnown ? laterOf(last, cursorBy(own, one.id)) : undefined);
  };
  const send = (event: string, one: Task | Job) => {
    const data = isTask(one) ? presentTask(one) : presentJob(one, tasks);
    return deliver(subscriber, { group, user: subject.user, subscribers }, { event, channel, data }, logger);
  };
  const snapshot = new Map(all.map((one): [string, Cursor] => [one.id, cursorOf(one)]));
  if (!isInterrupted && !(await saveSnapshot(partition, subscriber, snapshot))) return;
  const { snapshotPosition: from = 0 } = subscriber;
  if (from === 0 && !(await send('subscribed', subject))) return;
  for (const [index, one] of all.entries()) {
    const position = positionOf(one, index, subject);
    if (position < from) continue;
    // Sending a job with many tasks takes seconds. If the relay dies, the next one only sends the rest.
    if (position > from && position % sentBetweenSaves === 0)
      await saveSnapshotPosition(partition, subscriber, position);
    const event = eventOf(one);
    if (event && !(await send(event, one))) return;
  }
  await completeSnapshot(partition, subscriber);
  subscriber.snapshot = snapshot;
  delete subscriber.snapshotPosition;
}

/** Returns the position of a task or job in the snapshot of a job, including deleted tasks. */
function positionOf(one: Task | Job, index: number, subject: Task | Job): number {
  if (isTask(subject)) return 0;
  if (one === subject) return index === 0 ? 0 : subject.tasks.length + 1;
  return subject.tasks.indexOf(one.id) + 1;
}

interface State {
  subject: Task | Job;
  /** The tasks of a job. */
  tasks: Task[];
}

/** Returns a job before its tasks, or after them if it has ended. */
function inOrder(job: Job, tasks: Task[]): (Task | Job)[] {
  return phaseOf(job) === phases.ended ? [...tasks, job] : [job, ...tasks];
}

function asInSnapshot({ subject, tasks }: State, snapshot = new Map<string, Cursor>()): State {
  return {
    subject: isTask(subject) ? taskAt(subject, snapshot.get(subject.id)) : jobAt(subject, snapshot.get(subject.id)),
    tasks: tasks.map((task) => taskAt(task, snapshot.get(task.id))),
  };
}

/** Reads the subject of a channel: a task, or a job with its tasks. */
async function readState(channel: string): Promise<State | undefined> {
  const parsed = parseChannel(channel);
  if (parsed?.kind === 'task') {
    const task = await records.task(parsed.id);
    return task && { subject: task, tasks: [] };
  }
  if (parsed?.kind !== 'job') return undefined;
  const job = await records.job(parsed.id);
  return job && { subject: job, tasks: await tasksOf(job) };
}

/** Sends to a subscriber. If its connection is closed, removes all its subscriptions and returns false. */
async function deliver(
  { connection, dialect, identity }: Subscriber,
  { group, user, subscribers }: { group: string; user: string; subscribers: Subscriber[] },
  message: Message,
  logger: Logger,
): Promise<boolean> {
  try {
    // The key of the connection may have been deleted.
    if (!(await isStillValid(identity))) await disconnect(connection);
    else if ((await post(connection, encode(dialect, message))) === 'sent') return true;
  } catch (error) {
    // A client must not miss an event unnoticed. It is disconnected, reconnects, and receives the current state.
    logger.warn('a connection could not be posted to', { connection, error });
    await disconnect(connection).catch(() => sendEvents([{ type: 'abandoned', connection }]));
  }
  await Promise.all(
    subscribers
      .filter((one) => one.connection === connection)
      .map((one) => {
        // Subscribers are cached per batch, so drop it from the cache.
        delete one.snapshot;
        return removeSubscriber(one.channel.startsWith('user.') ? partitionOfUser(user) : partitionOfGroup(group), one);
      }),
  );
  return false;
}
