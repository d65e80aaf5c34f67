/**
 * Names of the table's keys and indexes, shared by the records and by the stack that creates the table. Both indexes hold the
 * head of a group only: a job, or a task without one. What changes while tasks run is in neither of them.
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

/** First parts of the partition keys, one for each kind of item. Roles are limited to kinds by them. */
export const partitions = {
  /** A job with its tasks, or a task without a job. */
  group: 'group#',
  /** How many records a user has, by hours, for lists. */
  counts: 'counts#',
  /** What makes a key valid, by its hash. */
  apiKey: 'key#',
  /** The keys of an account, to list them. */
  accountKey: 'keys#',
  /** The open connections of a key. */
  keyConnection: 'keyconn#',
  /** An account with its members and the invitations to it. */
  account: 'account#',
  /** The accounts of a person. */
  membership: 'membership#',
  /** Invitations by the hash of an e-mail address. */
  invitation: 'invite#',
  /** Who changed what of an account. */
  audit: 'audit#',
  /** Someone who signs in, by what their issuer calls them. */
  person: 'person#',
  /** A sign-in that was begun and not completed. */
  attempt: 'attempt#',
  /** The session of a person who is signed in. */
  signIn: 'signin#',
  /** How many requests an account has made of late, and when its keys were last used. */
  rate: 'rate#',
  token: 'token#',
  idempotency: 'once#',
  /** The webhooks of a user, or the one of a job. */
  webhook: 'hooks#',
  /** The deliveries of a webhook. */
  delivery: 'hook#',
  connection: 'conn#',
  /** The connections that are pinged. */
  pinged: 'ping#',
  /** What a client that reconnects had subscribed to. */
  session: 'session#',
  /** The subscribers of a job, a task or a user, and what was sent to them. */
  subscriber: 'listen#',
  /** Whether an account has connections or webhooks. The prefix is that of the items which deployments have. */
  accountSubscribers: 'following#',
  /** What is taken from the engine time of a user, and of each API key, in a month. */
  minutes: 'minutes#',
  /** What a user used each day, in shards: many tasks may end in the same second. */
  usage: 'usage#',
  /** The long runs of an account, by engines. */
  longRuns: 'running#',
  /** What an engine's workers report of it. */
  engine: 'engine#',
} as const;

/** First parts of the partition keys of the indexes. */
export const indexPartitions = {
  ownedTask: 'tasks#',
  ownedJob: 'jobs#',
  due: 'due#',
} as const;
