import type { partitions } from './aws/table-schema.ts';
import type { objectPrefixes } from './files/keys.ts';

/** A kind of item of the table, which the first part of its partition key names. */
export type ItemKind = keyof typeof partitions;
export type ItemAction = 'get' | 'batchGet' | 'query' | 'put' | 'update' | 'delete' | 'batchPut';

/** A kind of object of the bucket, which the first part of its key names. */
export type ObjectKind = keyof typeof objectPrefixes;
export type ObjectAction = 'get' | 'put' | 'abort' | 'delete' | 'list';
/** Kinds of objects that clients reach by requests which a role of their own has signed. */
export type SignedKind = 'uploads' | 'files';

/**
 * What a function may do: one action on one kind of thing. Its row or construct lists these, and its role allows them and
 * nothing else.
 */
export type Permission =
  | `${ItemKind}:${ItemAction}`
  /** The records of an owner, newest first. */
  | 'ownedTask:query'
  | 'ownedJob:query'
  /** What is due, of any kind. */
  | 'due:query'
  | `${ObjectKind}:${ObjectAction}`
  | `${SignedKind}:sign`
  /** Queues tasks for engines: all of them, or for an endpoint those that perform its operation. */
  | 'work:send'
  | 'events:send'
  | 'progress:send'
  | 'webhooks:send'
  /** Notifies the importer of posted files, as the bucket does. */
  | 'notifications:send'
  /** Receives and deletes messages that no worker could finish, and notifications that could not be handled. */
  | 'deadLetters:take'
  | 'sockets:post'
  | 'sockets:disconnect'
  /** Only the address of the WebSocket API, which takes no permission. */
  | 'sockets:locate'
  | 'bus:put'
  /** Only the address of the issuer that people sign in at, which takes no permission. */
  | 'issuer:locate';

/** What an endpoint needs to know whose key a request has, and how often they called. */
export const identifyKey = ['apiKey:get', 'rate:update'] as const satisfies Permission[];

/** The same where a request may have a session instead, with the role in an account. */
export const identifyCaller = [
  ...identifyKey,
  'signIn:get',
  'signIn:update',
  'account:get',
] as const satisfies Permission[];

/** What a change of a task needs to be published where somebody listens. */
export const publishTask = ['accountSubscribers:get', 'events:send'] as const satisfies Permission[];

/** The same of a job, whose end the bus receives where nobody listens, too. */
export const publishJob = [...publishTask, 'bus:put'] as const satisfies Permission[];

/** What follows from the end of a task: it closes or fails its job, and fails its dependents, and its secrets go. */
export const endTask = [
  'group:get',
  'group:batchGet',
  'group:put',
  'group:update',
  ...publishJob,
  'secrets:delete',
  'passwords:delete',
] as const satisfies Permission[];

/** What the end of a task that runs on an engine charges to its account, in one transaction with it. */
export const chargeTask = ['minutes:update', 'usage:update'] as const satisfies Permission[];

/** What follows from the completion of a task beyond that: its dependents are queued. */
export const releaseTasks = ['work:send'] as const satisfies Permission[];

/** What follows from the deletion of a task beyond its end. */
export const deleteTask = [
  'group:delete',
  'counts:update',
  'files:list',
  'files:delete',
] as const satisfies Permission[];
