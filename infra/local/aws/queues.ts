import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DatabaseSync } from 'node:sqlite';
import { buildApp } from 'fauxqs';
import { heartbeatWindowMs } from '../../../shared/tasks/transitions.ts';
import type { QueueFacts } from '../monitoring/monitoring.ts';
import type { LocalQueue } from '../template/model.ts';
import { loadFauxqs, patchStores } from './fauxqs-patches.ts';
import { ForwardedRequest } from './forwarded-request.ts';

export interface Queues {
  handle(req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> | void;
  send(queueName: string, body: string): Promise<void> | void;
  /** Returns what CloudWatch would know of each queue. */
  facts(): QueueFacts[];
  close(): Promise<void>;
}

/** When messages of receivers that died with the service become visible: after the window in which their tasks still count as owned. */
const releaseMs = heartbeatWindowMs + 5_000;

/** Starts the embedded SQS on the folder with the queues of the template. */
export async function startQueues(queues: LocalQueue[], region: string, directory: string): Promise<Queues> {
  const { SqsStore, SnsStore, S3Store, PersistenceManager } = await loadFauxqs();
  const persistence = new PersistenceManager(directory);
  // What is written to the log outlives a kill of this process; a sync to the disk for each message does not add to that.
  persistence.db.exec('PRAGMA synchronous = NORMAL');
  upsert(queues, persistence.db);
  releaseMessages(persistence.db);
  const sqsStore = new SqsStore();
  const snsStore = new SnsStore();
  const s3Store = new S3Store();
  persistence.loadSqsAndSns(sqsStore, snsStore);
  patchStores(sqsStore, persistence);

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
    facts() {
      const now = Date.now();
      return [...sqsStore.allQueues()].map((queue) => {
        const { ready, delayed, inflight } = queue.inspectMessages();
        const sent = [...ready, ...delayed, ...inflight.map(({ message }) => message)].map(
          ({ sentTimestamp }) => sentTimestamp,
        );
        const oldest = sent.reduce((earliest, time) => Math.min(earliest, time), now);
        return { name: queue.name, visible: ready.length, oldestSeconds: (now - oldest) / 1000 };
      });
    },
    async close() {
      await app.close();
      persistence.close();
    },
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
 * Makes messages visible again soon that were received before this start. None of their receivers is left, and a
 * message that no worker had claimed yet would stay hidden for the visibility timeout of its queue, up to 15 minutes.
 */
function releaseMessages(db: DatabaseSync): void {
  db.prepare('UPDATE sqs_messages SET visibility_deadline = MIN(visibility_deadline, ?)').run(Date.now() + releaseMs);
}
