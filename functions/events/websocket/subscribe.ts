import { setTimeout as pause } from 'node:timers/promises';
import { sendEvents } from '../../../shared/aws/events.ts';
import { subscribersKnownMs } from '../../../shared/aws/stores/account-subscribers.ts';
import { ownedRecords } from '../../../shared/aws/stores/owned-records.ts';
import { records } from '../../../shared/aws/stores/records.ts';
import { groupOf } from '../../../shared/events/change-event.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { presentJob } from '../../../shared/jobs/present.ts';
import { newestJobs, newestTasks } from '../../../shared/lists/list.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { isDeletedOrExpired, isTask, type Task } from '../../../shared/tasks/task.ts';
import { settings } from '../../wiring/settings.ts';
import { type Channel, parseChannel } from './channel.ts';
import { addSubscriber, type Connection, type Identity, partitionOfGroup, partitionOfUser } from './connections.ts';
import { encode } from './dialect.ts';
import { post } from './sockets.ts';

/** A channel that does not exist or that the client may not subscribe to, which look the same to it. */
export class SubscriptionRefused extends Error {
  override name = 'SubscriptionRefused';
  readonly errorCode: 'bad_request' | 'not_found' | 'forbidden';

  constructor(errorCode: SubscriptionRefused['errorCode'], message: string) {
    super(message);
    this.errorCode = errorCode;
  }
}

const maxChannels = 200;
/** Tasks or jobs of a snapshot, as many as fit into one WebSocket message. */
const maxDocs = 25;
/** For changes that are being published at the same time. */
const marginMs = 100;

/** Subscribes a connection to a channel, and requests that the current state is sent to it. */
export async function subscribe(connection: Connection, name: string): Promise<void> {
  const { identity } = connection;
  const channel = parseChannel(name);
  if (!channel || !identity)
    throw new SubscriptionRefused(
      'bad_request',
      'Expected a channel job.{id}, task.{id}, user.{id}.jobs or user.{id}.tasks.',
    );
  const { channels } = connection;
  if (!Object.hasOwn(channels, name) && Object.keys(channels).length >= maxChannels)
    throw new SubscriptionRefused('forbidden', `A connection may subscribe to at most ${maxChannels} channels.`);
  await untilPublished(connection);
  if ('user' in channel) return subscribeToUser(connection, identity, channel, name);
  const group = await groupFor(identity, channel.kind, channel.id);
  const isNew = await addSubscriber(connection, name, partitionOfGroup(group));
  const again = isNew ? {} : { again: true as const };
  // Sent by the relay, because only the relay knows which events of this job are in flight.
  await sendEvents([{ type: 'subscribed', connection: connection.id, channel: name, group, ...again }]);
}

/**
 * Waits until every function knows that this user is subscribed, so that changes after the snapshot are published. Only
 * needed for the first connection in a while.
 */
async function untilPublished({ subscribedSince = 0 }: Connection): Promise<void> {
  const leftMs = subscribedSince + subscribersKnownMs + marginMs - Date.now();
  if (leftMs > 0) await pause(leftMs);
}

async function groupFor(identity: Identity, kind: 'job' | 'task', id: string): Promise<string> {
  const missing = new SubscriptionRefused('not_found', `There is no ${kind} ${id}.`);
  const subject = kind === 'job' ? await records.job(id) : await records.task(id);
  if (!subject || subject.user !== identity.user || isDeletedOrExpired(subject, Date.now())) throw missing;
  const group = groupOf(subject);
  if (identity.job !== undefined && identity.job !== group) throw missing;
  return group;
}

async function subscribeToUser(
  connection: Connection,
  identity: Identity,
  channel: Extract<Channel, { user: string }>,
  name: string,
): Promise<void> {
  if (channel.user !== identity.user || identity.job !== undefined)
    throw new SubscriptionRefused('not_found', `There is no channel ${name} for this access token.`);
  await addSubscriber(connection, name, partitionOfUser(channel.user));
  const now = Date.now();
  const window = { now, oldest: now - settings.recordSeconds * 1000, skip: 0, limit: maxDocs };
  const newest = channel.kind === 'jobs' ? newestJobs : newestTasks;
  const latest: (Task | Job)[] = await newest(ownedRecords(channel.user, now), window);
  const docs = latest.map((one) => (isTask(one) ? presentTask(one) : presentJob(one)));
  // An event may overtake this; clients compare versions.
  const data = { channel: name, docs };
  await post(connection.id, encode(connection.dialect, { event: 'subscribed', channel: name, data }));
}
