import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DatabaseSync } from 'node:sqlite';
import { buildApp } from 'fauxqs';
import { heartbeatWindowMs } from '../../../shared/tasks/transitions.ts';
import type { LocalQueue } from '../template/model.ts';
import { handOutGroups, type Stores } from './fifo.ts';
import { ForwardedRequest } from './forwarded-request.ts';

export interface Queues {
  handle(req: IncomingMessage, res: ServerResponse, body: Buffer): void;
  send(queueName: string, body: string): void;
  close(): Promise<void>;
}

/** When messages come back whose receivers died with the service: after the window in which their tasks still count as owned. */
const comeBackMs = heartbeatWindowMs + 5_000;

type SqsStore = Stores['sqsStore'];

interface Persistence {
  readonly db: DatabaseSync;
  loadSqsAndSns(sqs: SqsStore, sns: Stores['snsStore']): void;
  updateMessageReady(messageId: string): void;
  transaction(work: () => void): void;
  close(): void;
}

/** Starts the embedded SQS on the folder with the queues of the template. */
export async function startQueues(queues: LocalQueue[], region: string, directory: string): Promise<Queues> {
  const { SqsStore, SnsStore, S3Store, PersistenceManager, invalidCharacters } = await internals();
  mendCharacterCheck(invalidCharacters);
  const persistence: Persistence = new PersistenceManager(directory);
  // What is written to the log outlives a kill of this process; a sync to the disk for each message does not add to that.
  persistence.db.exec('PRAGMA synchronous = NORMAL');
  mendUpdateMessageReady(persistence);
  upsert(queues, persistence.db);
  giveBack(persistence.db);

  const sqsStore = new SqsStore();
  const snsStore = new SnsStore();
  const s3Store = new S3Store();
  // Loaded before the stores get their persistence, so that loading does not write.
  persistence.loadSqsAndSns(sqsStore, snsStore);
  Object.assign(sqsStore, { persistence });
  // fauxqs looks some queues up by an ARN of its built-in account. There is one account and region, so the name is enough.
  sqsStore.getQueueByArn = (arn) => sqsStore.getQueueByName(arn.split(':').at(-1) ?? '');
  for (const queue of sqsStore.allQueues()) {
    Object.assign(queue, { persistence });
    if (queue.isFifo()) handOutGroups(queue);
    // One commit for a whole receive, and no instant at which a message is in neither its queue nor the dead-letter queue.
    const dequeue = queue.dequeue.bind(queue);
    queue.dequeue = (...args) => {
      let received: ReturnType<typeof dequeue> = [];
      persistence.transaction(() => {
        received = dequeue(...args);
      });
      return received;
    };
  }

  const app = buildApp({ logger: false, defaultRegion: region, stores: { sqsStore, snsStore, s3Store } });
  await app.ready();

  return {
    handle(req, res, body) {
      app.routing(new ForwardedRequest(req, '/', req.headers, body), res);
    },
    send(queueName, body) {
      const queue = sqsStore.getQueueByName(queueName);
      if (!queue) throw new Error(`There is no queue ${queueName}`);
      const delay = Number(queue.attributes.DelaySeconds);
      queue.enqueue(SqsStore.createMessage(body, {}, delay > 0 ? delay : undefined));
    },
    async close() {
      await app.close();
      persistence.close();
    },
  };
}

/**
 * Loads what fauxqs does not export. Its startFauxqs listens on every address of the machine, and its buildApp
 * keeps nothing on disk unless it is given stores with persistence, which only these files make.
 */
async function internals() {
  const file = (path: string) => new URL(path, import.meta.resolve('fauxqs')).href;
  const [sqs, types, sns, s3, persistence] = await Promise.all([
    import(file('sqs/sqsStore.js')),
    import(file('sqs/sqsTypes.js')),
    import(file('sns/snsStore.js')),
    import(file('s3/s3Store.js')),
    import(file('persistence.js')),
  ]);
  const SqsStore: {
    new (): SqsStore;
    createMessage(
      body: string,
      attributes: object,
      delaySeconds?: number,
    ): Parameters<ReturnType<SqsStore['createQueue']>['enqueue']>[0];
  } = sqs.SqsStore;
  const SnsStore: new () => Stores['snsStore'] = sns.SnsStore;
  const S3Store: new () => Stores['s3Store'] = s3.S3Store;
  const PersistenceManager: new (directory: string) => Persistence = persistence.PersistenceManager;
  const invalidCharacters: RegExp = types.INVALID_MESSAGE_BODY_CHAR;
  return { SqsStore, SnsStore, S3Store, PersistenceManager, invalidCharacters };
}

/**
 * Makes fauxqs 2.4 take the characters in a message that SQS takes. It looks at halves of surrogate pairs, and so
 * refuses every character above U+FFFF.
 */
function mendCharacterCheck(invalidCharacters: RegExp): void {
  const outsideXml = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
  Object.assign(invalidCharacters, { test: (text: string) => outsideXml.test(text) });
}

/** Replaces a write of fauxqs 2.4 which sets a NOT NULL column to null, so that a visibility timeout of 0 loses the message. */
function mendUpdateMessageReady(persistence: Persistence): void {
  const ready = persistence.db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = (messageId) => {
    ready.run(messageId);
  };
}

/** Writes the queues beneath fauxqs: its own replace of a queue row would cascade to the messages of the queue. */
function upsert(queues: LocalQueue[], db: DatabaseSync): void {
  const statement = db.prepare(`
    INSERT INTO sqs_queues (name, url, arn, attributes, tags, created_timestamp, last_modified_timestamp)
    VALUES (?, ?, ?, ?, '{}', ?, ?)
    ON CONFLICT (name) DO UPDATE SET url = excluded.url, arn = excluded.arn, attributes = excluded.attributes
  `);
  const now = Math.floor(Date.now() / 1000);
  for (const queue of queues) {
    statement.run(queue.name, queue.url, queue.arn, JSON.stringify(queue.attributes), now, now);
  }
}

/**
 * Lets messages come back soon that were received before this start. Nobody who received them is left, and a message
 * that no worker had claimed yet would stay hidden for the whole time-out of its queue, up to a quarter of an hour.
 */
function giveBack(db: DatabaseSync): void {
  db.prepare('UPDATE sqs_messages SET visibility_deadline = MIN(visibility_deadline, ?)').run(Date.now() + comeBackMs);
}
