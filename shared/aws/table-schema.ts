/** Names of the table's keys and indexes, shared by the records and by the stack that creates the table. */
export const tableSchema = {
  partitionKey: 'pk',
  sortKey: 'sk',
  timeToLive: 'ttl',
  byOwner: {
    name: 'byOwner',
    partitionKey: 'owner',
    sortKey: 'id',
    attributes: ['status', 'operation', 'job', 'tag', 'expiresAt'],
  },
  byDue: { name: 'byDue', partitionKey: 'dueShard', sortKey: 'dueAt' },
} as const;

/** First parts of the partition keys that roles are limited to. */
export const partitions = {
  apiKey: 'key#',
  engine: 'engine#',
  rate: 'rate#',
  subscribers: 'listen#',
  webhooks: 'hooks#',
  deliveries: 'hook#',
} as const;
