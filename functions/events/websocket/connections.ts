import { forgetConnection, noteConnection } from '../../../shared/aws/stores/key-connections.ts';
import type { TokenHolder } from '../../../shared/aws/stores/tokens.ts';
import {
  batchGet,
  get,
  type Item,
  itemExists,
  itemIsAbsent,
  type Key,
  put,
  putIf,
  query,
  remove,
  storedIn,
  update,
} from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';
import type { Cursor } from '../../../shared/events/event-names.ts';
import type { Dialect } from './dialect.ts';
import { forgetPinged, notePinged } from './pings.ts';

/** Longer than the maximum duration of a connection, so that records of connections that were never closed expire. */
const connectionSeconds = 2 * 60 * 60 + 600;
/** How long a disconnected Socket.IO client can resume its subscriptions. */
const sessionSeconds = 24 * 60 * 60;

/** A connection with its identity and subscriptions. */
export type Identity = TokenHolder;

export interface Connection {
  id: string;
  dialect: Dialect;
  /** Absent until a Socket.IO client has authenticated. */
  identity?: Identity;
  /** The origin of the page that opened it, for keys that are limited to certain origins. */
  origin?: string;
  /** When functions started to publish changes for this user, in milliseconds. */
  subscribedSince?: number;
  /** The session that a Socket.IO client resumes when it reconnects. */
  session?: string;
  /** Subscribed channels, with the partition that holds each subscription. */
  channels: Record<string, string>;
}

export interface Subscriber {
  connection: string;
  channel: string;
  dialect: Dialect;
  /** The authentication of the connection. */
  identity: Identity;
  /** The cursor of each task or job in the initial snapshot; absent until that is saved. */
  snapshot?: Map<string, Cursor>;
  /** The position up to which the snapshot has been sent; absent once it is complete. */
  snapshotPosition?: number;
}

/** The last event of a task or job sent to all its subscribers. */
export interface GroupCursor extends Cursor {
  /** Connections that received it on a user channel, which is not recorded elsewhere. */
  userConnections: string[];
}

const connectionKey = (id: string): Key => ({ pk: `${partitions.connection}${id}`, sk: 'conn' });
const sessionKey = (session: string): Key => ({ pk: `${partitions.session}${session}`, sk: 'session' });
type SubscriberId = Pick<Subscriber, 'connection' | 'channel'>;
const subscriberKey = (pk: string, { connection, channel }: SubscriberId): Key => ({
  pk,
  sk: `conn#${connection}#${channel}`,
});
/** Marks a partition that has or had subscribers, so that many partitions can be checked in one batch. */
const subscribedKey = (partition: string): Key => ({ pk: partition, sk: 'subscribed' });
const cursorPrefix = 'cursor#';
const expiry = (seconds: number) => Math.ceil(Date.now() / 1000) + seconds;

/** Returns the partition for subscribers of a job and its tasks, or of a task without a job. */
export const partitionOfGroup = (group: string) => `${partitions.subscriber}${group}`;
/** Returns the partition for subscribers of all jobs or all tasks of a user. */
export const partitionOfUser = (user: string) => `${partitions.subscriber}user.${user}`;

/** Stores a new connection. An unauthenticated one is not pinged, so that it closes when idle. */
export async function storeConnection(connection: Connection): Promise<void> {
  const ttl = expiry(connectionSeconds);
  const { id, identity } = connection;
  if (identity?.keyHash !== undefined) await noteConnection(identity.keyHash, id, ttl);
  await Promise.all([
    put({ ...connectionKey(id), ...connection, ttl }),
    identity ? notePinged(id, connection.dialect, ttl) : undefined,
  ]);
}

/** Reads a connection. */
export async function readConnection(id: string): Promise<Connection | undefined> {
  const item = await get(connectionKey(id));
  return item && storedIn<Connection>(item);
}

/** Removes a connection and its subscriptions. */
export async function removeConnection(id: string): Promise<void> {
  const connection = await readConnection(id);
  if (!connection) return;
  await Promise.all(
    Object.entries(connection.channels).map(([channel, partition]) =>
      removeSubscriber(partition, { connection: id, channel }),
    ),
  );
  const { keyHash } = connection.identity ?? {};
  if (keyHash !== undefined) await forgetConnection(keyHash, id);
  await forgetPinged(id);
  await remove(connectionKey(id));
}

/**
 * Subscribes a connection to a channel, and returns whether the subscription is new. A channel of one job or task sends
 * nothing before its snapshot.
 */
export async function addSubscriber(connection: Connection, channel: string, partition: string): Promise<boolean> {
  const isOfUser = partition.startsWith(partitionOfUser(''));
  const [isNew] = await Promise.all([
    putIf(
      {
        ...subscriberKey(partition, { connection: connection.id, channel }),
        connection: connection.id,
        channel,
        dialect: connection.dialect,
        identity: connection.identity,
        snapshot: isOfUser ? {} : undefined,
        ttl: expiry(connectionSeconds),
      },
      itemIsAbsent,
    ),
    update(connectionKey(connection.id), 'SET channels.#channel = :partition', {
      condition: itemExists,
      names: { '#channel': channel },
      values: { ':partition': partition },
    }),
    put({ ...subscribedKey(partition), ttl: expiry(connectionSeconds) }),
    connection.session ? rememberChannel(connection.session, connection.identity?.user ?? '', channel) : undefined,
  ]);
  return isNew;
}

async function rememberChannel(session: string, user: string, channel: string): Promise<void> {
  await update(sessionKey(session), 'ADD channels :channel SET #user = :user, #ttl = :ttl', {
    names: { '#user': 'user', '#ttl': 'ttl' },
    values: { ':channel': new Set([channel]), ':user': user, ':ttl': expiry(sessionSeconds) },
  });
}

/** Unsubscribes a connection from a channel. */
export async function dropSubscriber(connection: Connection, channel: string): Promise<void> {
  const partition = connection.channels[channel];
  if (!partition) return;
  await removeSubscriber(partition, { connection: connection.id, channel });
  await update(connectionKey(connection.id), 'REMOVE channels.#channel', {
    condition: itemExists,
    names: { '#channel': channel },
  });
  if (connection.session)
    await update(sessionKey(connection.session), 'DELETE channels :channel', {
      condition: itemExists,
      values: { ':channel': new Set([channel]) },
    });
}

/** Returns the channels of a session, for a client that reconnects. */
export async function channelsOfSession(session: string, user: string): Promise<string[]> {
  // Consistent, because a client may reconnect within milliseconds after it subscribed.
  const item = (await get(sessionKey(session))) ?? {};
  return item.user === user && item.channels instanceof Set ? [...item.channels].map(String) : [];
}

/** Reads the subscribers of a job and its tasks, or of a task without a job, and the last sent event of each. */
export async function readGroup(
  group: string,
): Promise<{ subscribers: Subscriber[]; cursors: Map<string, GroupCursor> }> {
  const items = await readPartition(partitionOfGroup(group));
  return {
    subscribers: items.filter(isSubscriber).map(toSubscriber),
    cursors: new Map(
      items.flatMap((item) =>
        String(item.sk).startsWith(cursorPrefix)
          ? [[String(item.sk).slice(cursorPrefix.length), storedIn<GroupCursor>(item)]]
          : [],
      ),
    ),
  };
}

/** Reads the subscribers of all jobs or all tasks of a user. */
export async function readUserSubscribers(user: string): Promise<Subscriber[]> {
  return (await readPartition(partitionOfUser(user))).filter(isSubscriber).map(toSubscriber);
}

/** Returns which of these partitions have or recently had subscribers. */
export async function subscribedAmong(candidates: string[]): Promise<Set<string>> {
  const items = await batchGet(candidates.map(subscribedKey), { consistent: false });
  return new Set(items.map(({ pk }) => String(pk)));
}

/** Saves the last event of a task or job sent to all subscribers of its group. */
export async function saveCursor(
  group: string,
  subject: { id: string; expiresAt: string },
  cursor: GroupCursor,
): Promise<void> {
  await put({
    pk: partitionOfGroup(group),
    sk: `${cursorPrefix}${subject.id}`,
    ...cursor,
    ttl: Math.ceil(Date.parse(subject.expiresAt) / 1000),
  });
}

/** Saves the snapshot for a subscriber before it is sent; returns whether it is still subscribed. */
export async function saveSnapshot(
  partition: string,
  subscriber: Subscriber,
  snapshot: Map<string, Cursor>,
): Promise<boolean> {
  const pairs = Object.fromEntries([...snapshot].map(([id, { version, phase }]) => [id, [version, phase]]));
  const expression = 'SET #snapshot = :snapshot, snapshotPosition = :none';
  const item = await update(subscriberKey(partition, subscriber), expression, {
    condition: itemExists,
    names: { '#snapshot': 'snapshot' },
    values: { ':snapshot': pairs, ':none': 0 },
  });
  return item !== undefined;
}

/** Saves the position up to which a snapshot has been sent. */
export async function saveSnapshotPosition(partition: string, subscriber: Subscriber, position: number): Promise<void> {
  await update(subscriberKey(partition, subscriber), 'SET snapshotPosition = :position', {
    condition: itemExists,
    values: { ':position': position },
  });
}

/** Saves that a snapshot has been sent completely. */
export async function completeSnapshot(partition: string, subscriber: Subscriber): Promise<void> {
  await update(subscriberKey(partition, subscriber), 'REMOVE snapshotPosition', { condition: itemExists });
}

/** Removes a subscription. */
export async function removeSubscriber(partition: string, subscriber: SubscriberId): Promise<void> {
  await remove(subscriberKey(partition, subscriber));
}

/** Reads a partition consistently, so that a new subscriber receives everything published after it subscribed. */
async function readPartition(partition: string): Promise<Item[]> {
  const items = await query({ keys: 'pk = :pk', values: { ':pk': partition } });
  const now = Date.now() / 1000;
  return items.filter(({ ttl }) => typeof ttl !== 'number' || ttl > now);
}

function isSubscriber({ sk }: Item): boolean {
  return String(sk).startsWith('conn#');
}

type StoredSubscriber = Omit<Subscriber, 'snapshot'> & {
  snapshot?: Record<string, [version: Cursor['version'], phase: Cursor['phase']]>;
};

function toSubscriber(item: Item): Subscriber {
  const { snapshot, ...subscriber } = storedIn<StoredSubscriber>(item);
  if (!snapshot) return subscriber;
  const cursors = Object.entries(snapshot).map(([id, [version, phase]]) => [id, { version, phase }] as const);
  return { ...subscriber, snapshot: new Map(cursors) };
}
