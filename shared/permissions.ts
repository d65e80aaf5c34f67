import type { partitions } from './aws/table-schema.ts';
import type { objectPrefixes } from './files/keys.ts';

/** A kind of item of the table, which the first part of its partition key names. */
export type ItemKind = keyof typeof partitions;
export type ItemAction = 'get' | 'batchGet' | 'query' | 'put' | 'update' | 'delete' | 'batchPut';

/** A kind of object of the bucket, which the first part of its key names. */
export type ObjectKind = keyof typeof objectPrefixes;
export type ObjectAction = 'get' | 'put' | 'abort' | 'delete' | 'list';

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
  | 'bus:put';

/** What follows from the end of a task that did not complete: it fails its dependents and its job, and its secrets go. */
export const endTask = [
  'task:get',
  'task:put',
  'job:get',
  'job:put',
  'job:update',
  'events:send',
  'secrets:delete',
  'passwords:delete',
] as const satisfies Permission[];

/** What whoever ends a task needs to publish a job whose creator died before it did: all its tasks. */
export const publishJob = ['task:batchGet'] as const satisfies Permission[];

/** What follows from the completion of a task beyond that: its dependents wait for one task less, or are queued. */
export const releaseTasks = ['task:update', 'work:send'] as const satisfies Permission[];

/** What follows from the deletion of a task beyond its end. */
export const deleteTask = ['task:delete', 'files:list', 'files:delete'] as const satisfies Permission[];
