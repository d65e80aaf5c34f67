import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@aws-lambda-powertools/logger';
import { type EventMessage, sendEvents } from '../../../shared/aws/events.ts';
import { records } from '../../../shared/aws/records.ts';
import { type Announcement, groupOf, subjectOf } from '../../../shared/events/announcement.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { presentJob } from '../../../shared/jobs/present.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import type { JsonObject, Task } from '../../../shared/tasks/task.ts';
import { eventFor, jobAsShown, laterOf, phaseOf, phases, type Shown, stateOf, taskAsShown } from '../event-names.ts';
import { channelsOf, parseChannel } from '../websocket/channel.ts';
import {
  type Listener,
  noteShowing,
  noteShown,
  noteSince,
  noteSinceShown,
  partitionOfGroup,
  partitionOfUser,
  readConnection,
  readFollowersOf,
  readGroup,
  removeListener,
} from '../websocket/connections.ts';
import { encode, type Message } from '../websocket/dialect.ts';
import { openPacket } from '../websocket/socket-io-packets.ts';
import { hangUp, post } from '../websocket/sockets.ts';

/** The connect route has returned by then; sent earlier, the first packet would find nobody. */
const openAfterMs = 50;
const openPatienceMs = 3_000;
const shownBetweenNotes = 50;

/** Shows a message of the queue to the connections it concerns. */
export type Relay = (message: EventMessage) => Promise<void>;

/**
 * Makes the relay of one batch of messages. The queue hands out the messages of one job one after the other, so nothing
 * else is shown of that job meanwhile, and what was shown can be noted after it was.
 */
export function relayFor(logger: Logger): Relay {
  const audience = audienceOfBatch();
  return (message) => {
    if (message.type === 'opened') return open(message.connection);
    if (message.type === 'abandoned') return hangUp(message.connection);
    if (message.type === 'subscribed') return showPresent(message, audience, logger);
    return tell(message.announcement, audience, logger);
  };
}

type Group = Awaited<ReturnType<typeof readGroup>>;

interface Audience {
  group(name: string): Promise<Group>;
  followersOf(user: string): Promise<Listener[]>;
}

/**
 * Reads who listens once for a whole batch. Nobody is missed: who follows a job begins by a message of the same job,
 * and who follows a user later than this read is shown what was recorded before it, as all of the batch was.
 */
function audienceOfBatch(): Audience {
  return { group: remembering(readGroup), followersOf: remembering(readFollowersOf) };
}

function remembering<T>(read: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (name) => {
    const reading = known.get(name) ?? read(name);
    known.set(name, reading);
    return reading;
  };
}

async function open(connection: string): Promise<void> {
  const deadline = Date.now() + openPatienceMs;
  do {
    await pause(openAfterMs);
    if ((await post(connection, openPacket(connection))) === 'sent') return;
    // One that is not up yet has its record. One that has none is closed, and those who share this batch do not wait for it.
  } while (Date.now() < deadline && (await readConnection(connection)));
}

async function tell(announcement: Announcement, audience: Audience, logger: Logger): Promise<void> {
  const subject = await wholeSubject(announcement);
  const group = groupOf(subject);
  const [{ listeners, shown }, followers] = await Promise.all([
    audience.group(group),
    audience.followersOf(subject.user),
  ]);
  const channels = channelsOf(subject);
  const isTarget = ({ channel, since }: Listener) => since !== undefined && channels.includes(channel);
  const everybody = [...listeners, ...followers];
  const targets = everybody.filter(isTarget);
  if (targets.length === 0) return;
  const state = stateOf(subject);
  const last = shown.get(subject.id);
  const data = 'waitsFor' in subject ? presentTask(subject) : await presentWhole(subject);
  await Promise.all(
    // Once for a connection, by the narrowest of its channels, however many of them carry it.
    [...Map.groupBy(targets, ({ connection }) => connection).values()].map(async (own) => {
      const [listener] = own.toSorted((a, b) => channels.indexOf(a.channel) - channels.indexOf(b.channel));
      const event = eventFor(subject, laterOf(last, shownBy(own, subject.id)));
      if (!listener || !event) return;
      const place = { group, user: subject.user, listeners: everybody };
      await deliver(listener, place, { event, channel: listener.channel, data }, logger);
    }),
  );
  // Never back to an earlier phase, whatever version comes with it: an end must stay the last that was shown.
  if (last && (last.version >= state.version || last.phase > state.phase)) return;
  const noted = { ...state, userConnections: followers.filter(isTarget).map(({ connection }) => connection) };
  await noteShown(group, subject, noted);
  shown.set(subject.id, noted);
}

/** Returns the task or job of an announcement; of a task that did not fit the message, its record where there still is one. */
async function wholeSubject(announcement: Announcement): Promise<Task | Job> {
  if (announcement.type === 'job' || !announcement.partial) return subjectOf(announcement);
  const { task } = announcement;
  const record = await records.task(task.id);
  return record && phaseOf(record) === phaseOf(task) ? record : task;
}

/** Shows a job with its tasks as they are now. */
export async function presentWhole(job: Job): Promise<JsonObject> {
  return presentJob(job, await tasksOf(job));
}

async function tasksOf(job: Job): Promise<Task[]> {
  const found = new Map((await records.tasks(job.tasks)).map((task) => [task.id, task]));
  return job.tasks.flatMap((id) => found.get(id) ?? []).filter(({ status }) => status !== 'deleted');
}

function shownBy(listeners: Listener[], id: string): Shown | undefined {
  return listeners.map(({ since }) => since?.get(id)).reduce(laterOf, undefined);
}

/**
 * Shows somebody who has begun to follow a channel how things stand, as the events that led there would have; somebody
 * who asks again, what they do not know of it. What is to be shown is noted first: a message that comes again because
 * its relay died shows the same, and what happened since is told by the messages that wait behind it.
 */
async function showPresent(
  { connection, channel, group, again }: Extract<EventMessage, { type: 'subscribed' }>,
  audience: Audience,
  logger: Logger,
): Promise<void> {
  const [{ listeners, shown }, now] = await Promise.all([audience.group(group), readState(channel)]);
  const listener = listeners.find((one) => one.connection === connection && one.channel === channel);
  if (!listener || !now) return;
  const partition = partitionOfGroup(group);
  const isBroken = listener.showing !== undefined;
  const isCurrent = listener.since !== undefined && !isBroken;
  if (isCurrent && !again) return;
  const { subject, tasks } = isBroken ? asShownBefore(now, listener.since) : now;
  const all = 'waitsFor' in subject ? [subject] : inOrder(subject, tasks);
  // What this connection received by this channel, or by another that carries the same, does not come again.
  const sources = listeners.filter((one) =>
    one === listener ? isCurrent : one.connection === connection && one.since !== undefined,
  );
  const eventOf = (one: Task | Job) => {
    const last = shown.get(one.id);
    const own = sources.filter((source) => channelsOf(one).includes(source.channel));
    const isKnown = own.length > 0 || last?.userConnections.includes(connection);
    return eventFor(one, isKnown ? laterOf(last, shownBy(own, one.id)) : undefined);
  };
  const show = (event: string, one: Task | Job) => {
    const data = 'waitsFor' in one ? presentTask(one) : presentJob(one, tasks);
    return deliver(listener, { group, user: subject.user, listeners }, { event, channel, data }, logger);
  };
  const since = new Map(all.map((one): [string, Shown] => [one.id, stateOf(one)]));
  if (!isBroken && !(await noteSince(partition, listener, since))) return;
  const { showing: from = 0 } = listener;
  if (from === 0 && !(await show('subscribed', subject))) return;
  for (const [index, one] of all.entries()) {
    const position = positionOf(one, index, subject);
    if (position < from) continue;
    // A job of many tasks takes seconds to show: a relay that dies over it leaves the rest, and not the whole, to the next.
    if (position > from && position % shownBetweenNotes === 0) await noteShowing(partition, listener, position);
    const event = eventOf(one);
    if (event && !(await show(event, one))) return;
  }
  await noteSinceShown(partition, listener);
  listener.since = since;
  delete listener.showing;
}

/** Returns where a task or job comes among all that is shown of a job, whichever of its tasks are gone by now. */
function positionOf(one: Task | Job, index: number, subject: Task | Job): number {
  if ('waitsFor' in subject) return 0;
  if (one === subject) return index === 0 ? 0 : subject.tasks.length + 1;
  return subject.tasks.indexOf(one.id) + 1;
}

interface State {
  subject: Task | Job;
  /** The tasks of a job. */
  tasks: Task[];
}

/** Lists a job before its tasks, or after them where it has ended. */
function inOrder(job: Job, tasks: Task[]): (Task | Job)[] {
  return phaseOf(job) === phases.ended ? [...tasks, job] : [job, ...tasks];
}

function asShownBefore({ subject, tasks }: State, since = new Map<string, Shown>()): State {
  return {
    subject:
      'waitsFor' in subject ? taskAsShown(subject, since.get(subject.id)) : jobAsShown(subject, since.get(subject.id)),
    tasks: tasks.map((task) => taskAsShown(task, since.get(task.id))),
  };
}

/** Reads what a channel shows: a task, or a job with its tasks. */
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

/** Sends to a listener; where its connection is gone it listens no more, by any of its channels, and false is returned. */
async function deliver(
  { connection, dialect }: Listener,
  { group, user, listeners }: { group: string; user: string; listeners: Listener[] },
  message: Message,
  logger: Logger,
): Promise<boolean> {
  try {
    if ((await post(connection, encode(dialect, message))) === 'sent') return true;
  } catch (error) {
    // A client that cannot be told something must not go on as if it had been: it is cut off, comes back, and is shown
    // the present state.
    logger.warn('a connection could not be posted to', { connection, error });
    await hangUp(connection).catch(() => sendEvents([{ type: 'abandoned', connection }]));
  }
  await Promise.all(
    listeners
      .filter((one) => one.connection === connection)
      .map((one) => {
        // Nor is anything more sent to it of this batch, which keeps whom it has read.
        delete one.since;
        return removeListener(one.channel.startsWith('user.') ? partitionOfUser(user) : partitionOfGroup(group), one);
      }),
  );
  return false;
}
