import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { fromItem, type Item, isConditionFailure, readAll, table, toItem } from '../../../shared/aws/table.ts';
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

const key = (pk: string, sk: string): Item => ({ pk: { S: pk }, sk: { S: sk } });
const connectionKey = (id: string) => key(`conn#${id}`, 'conn');
const listenerKey = (partition: string, { connection, channel }: Pick<Listener, 'connection' | 'channel'>) =>
  key(partition, `conn#${connection}#${channel}`);
/** Tells that a partition has, or had, listeners, to those who ask for many partitions at once. */
const followedKey = (partition: string) => key(partition, 'followed');
const expiry = (seconds: number) => Math.ceil(Date.now() / 1000) + seconds;

/** Returns the partition that keeps who follows a job with its tasks, or a task of its own. */
export const partitionOfGroup = (group: string) => `listen#${group}`;
/** Returns the partition that keeps who follows all jobs or all tasks of a user. */
export const partitionOfUser = (user: string) => `listen#user.${user}`;

/** Stores a new connection. */
export async function storeConnection(connection: Connection): Promise<void> {
  await put({ ...fromItem(connectionKey(connection.id)), ...connection, ttl: expiry(connectionSeconds) });
}

/** Reads a connection. */
export async function readConnection(id: string): Promise<Connection | undefined> {
  const { client, name } = table();
  const { Item } = await client.send(
    new GetItemCommand({ TableName: name, Key: connectionKey(id), ConsistentRead: true }),
  );
  if (!Item) return undefined;
  const { identity, session, dialect, channels } = fromItem(Item);
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
    create({
      ...fromItem(listenerKey(partition, { connection: connection.id, channel })),
      connection: connection.id,
      channel,
      dialect: connection.dialect,
      ...(isOfUser ? { since: {} } : {}),
      ttl: expiry(connectionSeconds),
    }),
    alter(
      connectionKey(connection.id),
      'SET channels.#channel = :partition',
      { ':partition': { S: partition } },
      { '#channel': channel },
    ),
    put({ ...fromItem(followedKey(partition)), ttl: expiry(connectionSeconds) }),
    connection.session ? rememberChannel(connection.session, connection.identity?.user ?? '', channel) : undefined,
  ]);
  return isNew;
}

async function create(record: Record<string, unknown>): Promise<boolean> {
  const { client, name } = table();
  try {
    await client.send(
      new PutItemCommand({ TableName: name, Item: toItem(record), ConditionExpression: 'attribute_not_exists(pk)' }),
    );
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
}

async function rememberChannel(session: string, user: string, channel: string): Promise<void> {
  const { client, name } = table();
  await client.send(
    new UpdateItemCommand({
      TableName: name,
      Key: sessionKey(session),
      UpdateExpression: 'ADD channels :channel SET #user = :user, #ttl = :ttl',
      ExpressionAttributeNames: { '#user': 'user', '#ttl': 'ttl' },
      ExpressionAttributeValues: {
        ':channel': { SS: [channel] },
        ':user': { S: user },
        ':ttl': { N: String(expiry(sessionSeconds)) },
      },
    }),
  );
}

/** Makes a connection follow a channel no more. */
export async function dropListener(connection: Connection, channel: string): Promise<void> {
  const partition = connection.channels[channel];
  if (!partition) return;
  await removeListener(partition, { connection: connection.id, channel });
  await alter(connectionKey(connection.id), 'REMOVE channels.#channel', {}, { '#channel': channel });
  if (connection.session)
    await alter(sessionKey(connection.session), 'DELETE channels :channel', { ':channel': { SS: [channel] } });
}

/** Returns the channels of a session of this user, for a client that comes back. */
export async function channelsOfSession(session: string, user: string): Promise<string[]> {
  const { client, name } = table();
  const { Item } = await client.send(
    // A client may be cut off right after it began to follow a channel, and is back within milliseconds.
    new GetItemCommand({ TableName: name, Key: sessionKey(session), ConsistentRead: true }),
  );
  const record = Item ? fromItem(Item) : {};
  return record.user === user && record.channels instanceof Set ? [...record.channels].map(String) : [];
}

/** Reads who follows a job with its tasks, or a task of its own, and what they were last shown of each. */
export async function readGroup(group: string): Promise<{ listeners: Listener[]; shown: Map<string, LastShown> }> {
  const items = await queryPartition(partitionOfGroup(group));
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
  return (await queryPartition(partitionOfUser(user))).filter(isListener).map(toListener);
}

/** Tells which of these partitions anybody listens to, or did lately. */
export async function followedAmong(partitions: string[]): Promise<Set<string>> {
  const items = await readAll([...new Set(partitions)].map(followedKey), false);
  return new Set(items.map(({ pk }) => pk?.S ?? ''));
}

/** Takes note of what all listeners of a group were shown of a task or job. */
export async function noteShown(
  group: string,
  subject: { id: string; expiresAt: string },
  shown: LastShown,
): Promise<void> {
  await put({
    ...fromItem(key(partitionOfGroup(group), `shown#${subject.id}`)),
    ...shown,
    ttl: Math.ceil(Date.parse(subject.expiresAt) / 1000),
  });
}

/** Takes note of what a listener is about to be shown, from where it follows a channel; says whether it still does. */
export async function noteSince(partition: string, listener: Listener, since: Map<string, Shown>): Promise<boolean> {
  return alter(listenerKey(partition, listener), 'SET since = :since, showing = :none', {
    ':none': { N: '0' },
    ':since': {
      M: Object.fromEntries(
        [...since].map(([id, shown]): [string, AttributeValue] => [
          id,
          { L: [{ N: String(shown.version) }, { N: String(shown.phase) }] },
        ]),
      ),
    },
  });
}

/** Takes note of how much of what it is shown at first a listener was shown. */
export async function noteShowing(partition: string, listener: Listener, count: number): Promise<void> {
  await alter(listenerKey(partition, listener), 'SET showing = :count', { ':count': { N: String(count) } });
}

/** Takes note that a listener was shown all that it was to be shown at first. */
export async function noteSinceShown(partition: string, listener: Listener): Promise<void> {
  await alter(listenerKey(partition, listener), 'REMOVE showing', {});
}

/** Removes a listener whose connection is gone. */
export async function removeListener(
  partition: string,
  listener: Pick<Listener, 'connection' | 'channel'>,
): Promise<void> {
  await remove(listenerKey(partition, listener));
}

function sessionKey(session: string): Item {
  return key(`session#${session}`, 'session');
}

async function queryPartition(partition: string): Promise<Record<string, unknown>[]> {
  const { client, name } = table();
  const items: Record<string, unknown>[] = [];
  let start: Item | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: name,
        // A listener that has just been added must be seen by whatever is announced after it.
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: partition } },
        ...(start ? { ExclusiveStartKey: start } : {}),
      }),
    );
    items.push(...(page.Items ?? []).map(fromItem));
    start = page.LastEvaluatedKey;
  } while (start);
  const now = Date.now() / 1000;
  return items.filter(({ ttl }) => typeof ttl !== 'number' || ttl > now);
}

async function alter(
  Key: Item,
  UpdateExpression: string,
  values: Item,
  names?: Record<string, string>,
): Promise<boolean> {
  const { client, name } = table();
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: name,
        Key,
        UpdateExpression,
        ConditionExpression: 'attribute_exists(pk)',
        ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
        ...(names ? { ExpressionAttributeNames: names } : {}),
      }),
    );
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
}

async function put(record: Record<string, unknown>): Promise<void> {
  const { client, name } = table();
  await client.send(new PutItemCommand({ TableName: name, Item: toItem(record) }));
}

async function remove(Key: Item): Promise<void> {
  const { client, name } = table();
  await client.send(new DeleteItemCommand({ TableName: name, Key }));
}

function isListener({ sk }: Record<string, unknown>): boolean {
  return String(sk).startsWith('conn#');
}

function toListener(item: Record<string, unknown>): Listener {
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

function toShown({ version, phase }: Record<string, unknown>): Shown {
  return { version: Number(version), phase: isPhase(phase) ? phase : 0 };
}

function toLastShown(item: Record<string, unknown>): LastShown {
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
