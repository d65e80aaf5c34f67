import type { partitions } from './aws/table-schema.ts';
import type { objectPrefixes } from './files/keys.ts';

/** A kind of table item, named by the prefix of its partition key. */
export type ItemKind = keyof typeof partitions;
export type ItemAction = 'get' | 'batchGet' | 'query' | 'put' | 'update' | 'delete' | 'batchPut';

/** A kind of object, named by the prefix of its key. */
export type ObjectKind = keyof typeof objectPrefixes;
export type ObjectAction = 'get' | 'put' | 'abort' | 'listParts' | 'delete' | 'list';
/** Kinds of objects that clients access by signed requests. A separate role signs those. */
export type SignedKind = 'uploads' | 'parts' | 'files';

/** One action on one kind of resource. The role of a function allows only what its route or construct lists. */
export type Permission =
  | `${ItemKind}:${ItemAction}`
  /** An owner's records, newest first. */
  | 'ownedTask:query'
  | 'ownedJob:query'
  /** Due records of any kind. */
  | 'due:query'
  | `${ObjectKind}:${ObjectAction}`
  | `${SignedKind}:sign`
  /** Incomplete multipart uploads of the whole bucket. */
  | 'incompleteUploads:list'
  /** Queues tasks for all engines or, for an endpoint, those that perform its operation. */
  | 'work:send'
  /** Invokes engines. */
  | 'engines:invoke'
  /** Submits jobs of an engine to AWS Batch, looks at them, and ends them. */
  | 'batch:submit'
  | 'batch:describe'
  | 'batch:terminate'
  | 'events:send'
  | 'progress:send'
  | 'webhooks:send'
  /** Notifies the importer of posted files, as the bucket does. */
  | 'notifications:send'
  /** Receives and deletes messages that no worker could finish, and notifications that failed. */
  | 'deadLetters:take'
  | 'sockets:post'
  | 'sockets:disconnect'
  /** Only the address of the WebSocket API, which requires no permission. */
  | 'sockets:locate'
  | 'bus:put'
  /** Only the address of the issuer for sign-in, which requires no permission. */
  | 'issuer:locate';

/** The tag of jobs on AWS Batch with the ARN of their queue, by which the roles of workers are limited to them. */
export const jobTag = 'lathe-queue';

/** For identifying the key of a request and counting its rate. */
export const identifyKey = ['apiKey:get', 'rate:update'] as const satisfies Permission[];

/** The same, plus sessions and the person's role in an account. */
export const identifyCaller = [
  ...identifyKey,
  'signIn:get',
  'signIn:update',
  'account:get',
] as const satisfies Permission[];

/** For publishing a change of a task to its subscribers. */
export const publishTask = ['accountSubscribers:get', 'events:send'] as const satisfies Permission[];

/** The same for a job. The bus receives its end even without subscribers. */
export const publishJob = [...publishTask, 'bus:put'] as const satisfies Permission[];

/** For ending a task: closes or fails its job, fails its dependents and deletes its secrets. */
export const endTask = [
  'group:get',
  'group:batchGet',
  'group:put',
  'group:update',
  ...publishJob,
  'secrets:delete',
  'passwords:delete',
] as const satisfies Permission[];

/** For charging engine time to the account, in one transaction with the end of the task. */
export const chargeTask = ['minutes:update', 'usage:update'] as const satisfies Permission[];

/** For queueing the dependents of a completed task. */
export const releaseTasks = ['work:send'] as const satisfies Permission[];

/** For deleting a task, in addition to ending it. */
export const deleteTask = [
  'group:delete',
  'counts:update',
  'files:list',
  'files:delete',
] as const satisfies Permission[];
