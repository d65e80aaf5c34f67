import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@aws-lambda-powertools/logger';
import type { Job } from '../jobs/job.ts';
import { records } from '../records/records.ts';
import { presentJob, presentTask } from '../tasks/present.ts';
import { type JsonObject, revisionOf, type Task } from '../tasks/task.ts';
import { channelsOf, parseChannel } from './channel.ts';
import {
  type Listener,
  noteShown,
  noteSince,
  partitionOfGroup,
  partitionOfUser,
  readFollowersOf,
  readGroup,
  removeListener,
} from './connections.ts';
import { encode, type Message } from './dialect.ts';
import {
  type Announcement,
  eventFor,
  groupOf,
  laterOf,
  phaseOf,
  phases,
  type Shown,
  stateOf,
  subjectOf,
} from './event.ts';
import type { EventMessage } from './queue.ts';
import { openPacket } from './socket-io.ts';
import { hangUp, post } from './sockets.ts';

/** The connect route has returned by then; sent earlier, the first packet would find nobody. */
const openAfterMs = 50;
const openPatienceMs = 3_000;

/**
 * Shows a message of the queue to the connections it concerns. The queue hands out the messages of one job one after
 * the other, so nothing else is shown of that job meanwhile, and what was shown can be noted after it was.
 */
export async function relay(message: EventMessage, logger: Logger): Promise<void> {
  if (message.type === 'opened') return open(message.connection);
  if (message.type === 'subscribed') return showPresent(message, logger);
  await tell(message.announcement, logger);
}

async function open(connection: string): Promise<void> {
  const deadline = Date.now() + openPatienceMs;
  do await pause(openAfterMs);
  while ((await post(connection, openPacket(connection))) === 'gone' && Date.now() < deadline);
}

async function tell(announcement: Announcement, logger: Logger): Promise<void> {
  const subject = await wholeSubject(announcement);
  const group = groupOf(subject);
  const [{ listeners, shown }, followers] = await Promise.all([readGroup(group), readFollowersOf(subject.user)]);
  const channels = channelsOf(subject);
  const targets = [...listeners, ...followers].filter(({ channel, since }) => since && channels.includes(channel));
  const place = { group, user: subject.user };
  if (targets.length === 0) return;
  const state = stateOf(subject);
  const last = shown.get(subject.id);
  const data = await present(subject);
  await Promise.all(
    oncePerSocket(targets).map(async (listener) => {
      const event = eventFor(subject, laterOf(last, shownTo(listener, targets, subject.id)));
      if (event) {
        const { channel } = listener;
        await deliver(listener, place, { event, channel, version: state.version, data }, logger);
      }
    }),
  );
  // Never back to an earlier phase, whatever version comes with it: an end must stay the last that was shown.
  if (!last || (last.version < state.version && last.phase <= state.phase)) await noteShown(group, subject, state);
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

async function present(subject: Task | Job, read?: (Task | Job)[]): Promise<JsonObject> {
  if ('waitsFor' in subject) return presentTask(subject);
  return read
    ? presentJob(
        subject,
        read.filter((one) => 'waitsFor' in one),
      )
    : presentWhole(subject);
}

async function tasksOf(job: Job): Promise<Task[]> {
  const found = new Map((await records.tasks(job.tasks)).map((task) => [task.id, task]));
  return job.tasks.flatMap((id) => found.get(id) ?? []).filter(({ status }) => status !== 'deleted');
}

// A client of Socket.IO cannot tell by which of its channels an event came, so it gets it by one of them.
function oncePerSocket(listeners: Listener[]): Listener[] {
  const seen = new Set<string>();
  return listeners.filter(({ dialect, connection }) => {
    if (dialect === 'plain') return true;
    if (seen.has(connection)) return false;
    seen.add(connection);
    return true;
  });
}

function shownTo(listener: Listener, all: Listener[], id: string): Shown | undefined {
  if (listener.dialect === 'plain') return listener.since?.get(id);
  return shownBy(
    all.filter(({ connection }) => connection === listener.connection),
    id,
  );
}

function shownBy(listeners: Listener[], id: string): Shown | undefined {
  return listeners.map(({ since }) => since?.get(id)).reduce(laterOf, undefined);
}

/** Shows somebody who has begun to follow a channel how things stand, as the events that led there would have. */
async function showPresent(
  { connection, channel, group }: Extract<EventMessage, { type: 'subscribed' }>,
  logger: Logger,
): Promise<void> {
  const { listeners, shown } = await readGroup(group);
  const listener = listeners.find((one) => one.connection === connection && one.channel === channel);
  const state = await readState(channel);
  if (!listener || !state) return;
  const { subject, all } = state;
  const since = new Map(all.map((one): [string, Shown] => [one.id, stateOf(one)]));
  if (!(await noteSince(partitionOfGroup(group), listener, since))) return;

  // What this client of Socket.IO knows by its other channels is no news to it.
  const others =
    listener.dialect === 'plain'
      ? []
      : listeners.filter((one) => one.connection === connection && one.channel !== channel && one.since);
  const say = async (event: string, one: Task | Job) => {
    const message = { event, channel, version: revisionOf(one), data: await present(one, all) };
    await deliver(listener, { group, user: subject.user }, message, logger);
  };
  await say('subscribed', subject);
  for (const one of all) {
    const known = others.length > 0 ? laterOf(shown.get(one.id), shownBy(others, one.id)) : undefined;
    const event = eventFor(one, known);
    if (event) await say(event, one);
  }
}

/** Reads what a channel shows: a task, or a job before its tasks, or after them where it has ended. */
async function readState(channel: string): Promise<{ subject: Task | Job; all: (Task | Job)[] } | undefined> {
  const parsed = parseChannel(channel);
  if (parsed?.kind === 'task') {
    const task = await records.task(parsed.id);
    return task && { subject: task, all: [task] };
  }
  if (parsed?.kind !== 'job') return undefined;
  const job = await records.job(parsed.id);
  if (!job) return undefined;
  const tasks = await tasksOf(job);
  return { subject: job, all: phaseOf(job) === phases.ended ? [...tasks, job] : [job, ...tasks] };
}

async function deliver(
  listener: Listener,
  { group, user }: { group: string; user: string },
  message: Message,
  logger: Logger,
): Promise<void> {
  const { connection, channel, dialect } = listener;
  try {
    if ((await post(connection, encode(dialect, message))) === 'sent') return;
  } catch (error) {
    // A client that cannot be told something must not go on as if it had been: it is cut off, comes back, and is shown
    // the present state.
    logger.warn('a connection could not be posted to', { connection, error });
    await hangUp(connection).catch(() => undefined);
  }
  await removeListener(channel.startsWith('user.') ? partitionOfUser(user) : partitionOfGroup(group), listener);
}
