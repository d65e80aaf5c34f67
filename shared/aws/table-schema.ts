/**
 * Names of the table's keys and indexes, shared by the records and the stack. Both indexes hold only the first record
 * of a group: a job, or a task without one. They hold nothing that changes while tasks run.
 */
export const tableSchema = {
  partitionKey: 'pk',
  sortKey: 'sk',
  timeToLive: 'ttl',
  byOwner: {
    name: 'byOwner',
    partitionKey: 'owner',
    sortKey: 'id',
    attributes: ['tag', 'expiresAt', 'endStatus', 'operations', 'gone'],
  },
  byDue: { name: 'byDue', partitionKey: 'dueShard', sortKey: 'dueAt' },
} as const;

/** Prefixes of the partition keys, one per kind of item. Roles are limited to kinds by them. */
export const partitions = {
  /** A job with its tasks, or a task without a job. */
  group: 'group#',
  /** Hourly counts of a user's records, for lists. */
  counts: 'counts#',
  /** Valid keys by hash. */
  apiKey: 'key#',
  /** The keys of an account, for listing. */
  accountKey: 'keys#',
  /** Keys for image URLs, by id. */
  imageKey: 'imagekey#',
  /** The image keys of an account, for listing. */
  accountImageKey: 'imagekeys#',
  /** Derivatives of pictures that are being made, and for a minute those that several requests waited for. */
  derivative: 'derivative#',
  /** The job of a task on AWS Batch. */
  batchJob: 'batch#',
  /** The open connections of a key. */
  keyConnection: 'keyconn#',
  /** An account with its members and invitations. */
  account: 'account#',
  /** The accounts of a person. */
  membership: 'membership#',
  /** Invitations by the hash of an e-mail address. */
  invitation: 'invite#',
  /** The audit log of an account. */
  audit: 'audit#',
  /** A person who signs in, by issuer and subject. */
  person: 'person#',
  /** An incomplete sign-in. */
  attempt: 'attempt#',
  /** The session of a signed-in person. */
  signIn: 'signin#',
  /** Request rates of an account, and when its keys were last used. */
  rate: 'rate#',
  token: 'token#',
  idempotency: 'once#',
  /** The webhooks of a user, or the one of a job. */
  webhook: 'hooks#',
  /** The deliveries of a webhook. */
  delivery: 'hook#',
  connection: 'conn#',
  /** Connections that are pinged. */
  pinged: 'ping#',
  /** The subscriptions of a client that may reconnect. */
  session: 'session#',
  /** The subscribers of a job, task or user, and their cursors. */
  subscriber: 'listen#',
  /** Whether an account has connections or webhooks. */
  accountSubscribers: 'following#',
  /** Engine time used by a user and by each API key in a month. */
  minutes: 'minutes#',
  /** Daily usage of a user, sharded: many tasks may end in the same second. */
  usage: 'usage#',
  /** The long runs of an account, per engine. */
  longRuns: 'running#',
  /** Plans and finished parts of split runs by task, and the places that all of them share. */
  split: 'split#',
  /** The last report of an engine's workers. */
  engine: 'engine#',
} as const;

/** Prefixes of the index partition keys. */
export const indexPartitions = {
  ownedTask: 'tasks#',
  ownedJob: 'jobs#',
  due: 'due#',
} as const;
