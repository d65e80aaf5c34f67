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
  update,
} from '../../../shared/aws/table.ts';
import type { Phase, Shown } from '../event-names.ts';
import type { Dialect } from './dialect.ts';

/** Longer than API Gateway lets a connection live, so that what is left of one that nobody closed goes by itself. */
const connectionSeconds = 2 * 60 * 60 + 600;
/** How long a client of Socket.IO may stay away and still come back to the channels it followed. */
const sessionSeconds = 24 * 60 * 60;

/** Who is at the other end, and what they may follow. */
export interface Identity {
  user: string;
  /** Present where a token is limited to one job. */
  job?: string;
}

export interface Connection {
  id: string;
  dialect: Dialect;
  /** Absent until a client of Socket.IO has said who it is. */
  identity?: Identity;
  /** Names the session that a client of Socket.IO comes back to. */
  session?: string;
  /** Channels that are followed, with the partition that each is kept in. */
  channels: Record<string, string>;
}

export interface Listener {
  connection: string;
  channel: string;
  dialect: Dialect;
  /** What was shown of each task or job when the channel was first followed; absent until then. */
  since?: Map<string, Shown>;
  /** How much of that was shown for certain, in the order in which it is; absent once all was. */
  showing?: number;
}

/** What was last sent of a task or job to everybody who follows it. */
export interface LastShown extends Shown {
  /** Connections that received it by a channel of their user; of those nothing else says what they received. */
  userConnections: string[];
}

const connectionKey = (id: string): Key => ({ pk: `conn#${id}`, sk: 'conn' });
const sessionKey = (session: string): Key => ({ pk: `session#${session}`, sk: 'session' });
const listenerKey = (partition: string, { connection, channel }: Pick<Listener, 'connection' | 'channel'>): Key => ({
  pk: partition,
  sk: `conn#${connection}#${channel}`,
});
/** Tells that a partition has, or had, listeners, to those who ask for many partitions at once. */
const followedKey = (partition: string): Key => ({ pk: partition, sk: 'followed' });
const expiry = (seconds: number) => Math.ceil(Date.now() / 1000) + seconds;

/** Returns the partition that keeps who follows a job with its tasks, or a task of its own. */
export const partitionOfGroup = (group: string) => `listen#${group}`;
/** Returns the partition that keeps who follows all jobs or all tasks of a user. */
export const partitionOfUser = (user: string) => `listen#user.${user}`;

/** Stores a new connection. */
export async function storeConnection(connection: Connection): Promise<void> {
  await put({ ...connectionKey(connection.id), ...connection, ttl: expiry(connectionSeconds) });
}

/** Reads a connection. */
export async function readConnection(id: string): Promise<Connection | undefined> {
  const item = await get(connectionKey(id));
  if (!item) return undefined;
  const { identity, session, dialect, channels } = item;
  return {
    id,
    dialect: dialect === 'socket.io' ? 'socket.io' : 'plain',
    ...(isIdentity(identity) ? { identity } : {}),
    ...(typeof session === 'string' ? { session } : {}),
    channels: textsOf(channels),
  };
}

/** Removes a connection and everything it followed. */
export async function removeConnection(id: string): Promise<void> {
  const connection = await readConnection(id);
  if (!connection) return;
  await Promise.all(
    Object.entries(connection.channels).map(([channel, partition]) =>
      removeListener(partition, { connection: id, channel }),
    ),
  );
  await remove(connectionKey(id));
}

/**
 * Makes a connection follow a channel, and says whether it did not before. A channel of one job or task shows nothing
 * before its present state was shown.
 */
export async function addListener(connection: Connection, channel: string, partition: string): Promise<boolean> {
  const isOfUser = partition.startsWith(partitionOfUser(''));
  const [isNew] = await Promise.all([
    putIf(
      {
        ...listenerKey(partition, { connection: connection.id, channel }),
        connection: connection.id,
        channel,
        dialect: connection.dialect,
        ...(isOfUser ? { since: {} } : {}),
        ttl: expiry(connectionSeconds),
      },
      itemIsAbsent,
    ),
    update(connectionKey(connection.id), 'SET channels.#channel = :partition', {
      condition: itemExists,
      names: { '#channel': channel },
      values: { ':partition': partition },
    }),
    put({ ...followedKey(partition), ttl: expiry(connectionSeconds) }),
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

/** Makes a connection follow a channel no more. */
export async function dropListener(connection: Connection, channel: string): Promise<void> {
  const partition = connection.channels[channel];
  if (!partition) return;
  await removeListener(partition, { connection: connection.id, channel });
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

/** Returns the channels of a session of this user, for a client that comes back. */
export async function channelsOfSession(session: string, user: string): Promise<string[]> {
  // Consistent, because a client may be disconnected right after it subscribed, and be back within milliseconds.
  const item = (await get(sessionKey(session))) ?? {};
  return item.user === user && item.channels instanceof Set ? [...item.channels].map(String) : [];
}

/** Reads who follows a job with its tasks, or a task of its own, and what they were last shown of each. */
export async function readGroup(group: string): Promise<{ listeners: Listener[]; shown: Map<string, LastShown> }> {
  const items = await readPartition(partitionOfGroup(group));
  return {
    listeners: items.filter(isListener).map(toListener),
    shown: new Map(
      items.flatMap((item) =>
        String(item.sk).startsWith('shown#') ? [[String(item.sk).slice('shown#'.length), toLastShown(item)]] : [],
      ),
    ),
  };
}

/** Reads who follows all jobs or all tasks of a user. */
export async function readFollowersOf(user: string): Promise<Listener[]> {
  return (await readPartition(partitionOfUser(user))).filter(isListener).map(toListener);
}

/** Tells which of these partitions anybody listens to, or did lately. */
export async function followedAmong(partitions: string[]): Promise<Set<string>> {
  const items = await batchGet(partitions.map(followedKey), { consistent: false });
  return new Set(items.map(({ pk }) => String(pk)));
}

/** Takes note of what all listeners of a group were shown of a task or job. */
export async function noteShown(
  group: string,
  subject: { id: string; expiresAt: string },
  shown: LastShown,
): Promise<void> {
  await put({
    pk: partitionOfGroup(group),
    sk: `shown#${subject.id}`,
    ...shown,
    ttl: Math.ceil(Date.parse(subject.expiresAt) / 1000),
  });
}

/** Takes note of what a listener is about to be shown, from where it follows a channel; says whether it still does. */
export async function noteSince(partition: string, listener: Listener, since: Map<string, Shown>): Promise<boolean> {
  const pairs = Object.fromEntries([...since].map(([id, { version, phase }]) => [id, [version, phase]]));
  const item = await update(listenerKey(partition, listener), 'SET since = :since, showing = :none', {
    condition: itemExists,
    values: { ':since': pairs, ':none': 0 },
  });
  return item !== undefined;
}

/** Takes note of how much of what it is shown at first a listener was shown. */
export async function noteShowing(partition: string, listener: Listener, count: number): Promise<void> {
  const values = { ':count': count };
  await update(listenerKey(partition, listener), 'SET showing = :count', { condition: itemExists, values });
}

/** Takes note that a listener was shown all that it was to be shown at first. */
export async function noteSinceShown(partition: string, listener: Listener): Promise<void> {
  await update(listenerKey(partition, listener), 'REMOVE showing', { condition: itemExists });
}

/** Removes a listener whose connection is gone. */
export async function removeListener(
  partition: string,
  listener: Pick<Listener, 'connection' | 'channel'>,
): Promise<void> {
  await remove(listenerKey(partition, listener));
}

/** Reads a partition consistently: a subscriber that was just added must receive whatever is published after it. */
async function readPartition(partition: string): Promise<Item[]> {
  const items = await query({ keys: 'pk = :pk', values: { ':pk': partition } });
  const now = Date.now() / 1000;
  return items.filter(({ ttl }) => typeof ttl !== 'number' || ttl > now);
}

function isListener({ sk }: Item): boolean {
  return String(sk).startsWith('conn#');
}

function toListener(item: Item): Listener {
  const { connection, channel, dialect, since, showing } = item;
  return {
    connection: String(connection),
    channel: String(channel),
    dialect: dialect === 'socket.io' ? 'socket.io' : 'plain',
    ...(typeof showing === 'number' ? { showing } : {}),
    ...(typeof since === 'object' && since !== null
      ? { since: new Map(Object.entries(since).map(([id, pair]) => [id, pairToShown(pair)])) }
      : {}),
  };
}

function pairToShown(pair: unknown): Shown {
  const [version, phase] = Array.isArray(pair) ? pair : [];
  return toShown({ version, phase });
}

function toShown({ version, phase }: Item): Shown {
  return { version: Number(version), phase: isPhase(phase) ? phase : 0 };
}

function toLastShown(item: Item): LastShown {
  const { userConnections } = item;
  return { ...toShown(item), userConnections: Array.isArray(userConnections) ? userConnections.map(String) : [] };
}

function isPhase(value: unknown): value is Phase {
  return value === 0 || value === 1 || value === 2 || value === 3;
}

function isIdentity(value: unknown): value is Identity {
  return typeof value === 'object' && value !== null && 'user' in value && typeof value.user === 'string';
}

function textsOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}
