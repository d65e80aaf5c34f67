import { sendEvents } from '../../../shared/aws/events.ts';
import { records } from '../../../shared/aws/records.ts';
import { groupOf } from '../../../shared/events/announcement.ts';
import { presentJob } from '../../../shared/jobs/present.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { isGone } from '../../../shared/tasks/task.ts';
import { type Channel, parseChannel } from './channel.ts';
import {
  addListener,
  type Connection,
  dropListener,
  type Identity,
  partitionOfGroup,
  partitionOfUser,
} from './connections.ts';
import { encode } from './dialect.ts';
import { latestJobs, latestTasks } from './latest.ts';
import { post } from './sockets.ts';

/** A channel that a client may not follow, or that does not exist, which looks the same from outside. */
export class SubscriptionRefused extends Error {
  override name = 'SubscriptionRefused';
  readonly errorCode: 'bad_request' | 'not_found' | 'forbidden';

  constructor(errorCode: 'bad_request' | 'not_found' | 'forbidden', message: string) {
    super(message);
    this.errorCode = errorCode;
  }
}

const mostChannels = 200;

/** Makes a connection follow a channel, and has the present state shown to it. */
export async function subscribe(connection: Connection, name: string): Promise<void> {
  const { identity } = connection;
  const channel = parseChannel(name);
  if (!channel || !identity)
    throw new SubscriptionRefused(
      'bad_request',
      'Expected a channel job.{id}, task.{id}, user.{id}.jobs or user.{id}.tasks.',
    );
  const { channels } = connection;
  if (!Object.hasOwn(channels, name) && Object.keys(channels).length >= mostChannels)
    throw new SubscriptionRefused('forbidden', `A connection may follow ${mostChannels} channels.`);
  if ('user' in channel) return followUser(connection, identity, channel, name);
  const group = await groupFor(identity, channel.kind, channel.id);
  const isNew = await addListener(connection, name, partitionOfGroup(group));
  const again = isNew ? {} : { again: true as const };
  // Shown by the relay, which alone knows what else it is showing of this job at that moment.
  await sendEvents([{ type: 'subscribed', connection: connection.id, channel: name, group, ...again }]);
}

/** Makes a connection follow a channel no more. */
export async function unsubscribe(connection: Connection, name: string): Promise<void> {
  await dropListener(connection, name);
}

async function groupFor(identity: Identity, kind: 'job' | 'task', id: string): Promise<string> {
  const missing = new SubscriptionRefused('not_found', `There is no ${kind} ${id}.`);
  const subject = kind === 'job' ? await records.job(id) : await records.task(id);
  if (!subject || subject.user !== identity.user || isGone(subject, Date.now())) throw missing;
  const group = groupOf(subject);
  if (identity.job !== undefined && identity.job !== group) throw missing;
  return group;
}

async function followUser(
  connection: Connection,
  identity: Identity,
  channel: Extract<Channel, { user: string }>,
  name: string,
): Promise<void> {
  if (channel.user !== identity.user || identity.job !== undefined)
    throw new SubscriptionRefused('not_found', `There is no channel ${name} for this access token.`);
  await addListener(connection, name, partitionOfUser(channel.user));
  const latest = await (channel.kind === 'jobs' ? latestJobs(channel.user) : latestTasks(channel.user));
  const docs = latest.map((one) => ('waitsFor' in one ? presentTask(one) : presentJob(one)));
  // An event may overtake this; by the versions a client tells which of the two is older.
  const data = { channel: name, docs };
  await post(connection.id, encode(connection.dialect, { event: 'subscribed', channel: name, data }));
}
