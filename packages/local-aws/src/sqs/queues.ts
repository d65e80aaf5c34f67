import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DatabaseSync } from 'node:sqlite';
import { buildApp } from 'fauxqs';
import type { QueueFacts } from '../cloudwatch/monitoring.ts';
import type { Faults } from '../faults/faults.ts';
import type { Random } from '../faults/random.ts';
import type { LocalQueue } from '../template/model.ts';
import { ForwardedRequest } from '../wire/forwarded-request.ts';
import { failedDeletion, misdeliver } from './deliveries.ts';
import { keepSent, loadFauxqs, patchStores, type SqsStore as Store } from './fauxqs-patches.ts';

export interface Queues {
  handle(req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> | void;
  /** Sends a message with an optional delay. */
  send(queueName: string, body: string, delaySeconds?: number): Promise<void> | void;
  /** Returns CloudWatch's metrics of each queue. */
  facts(): QueueFacts[];
  close(): Promise<void>;
}

/** Starts the embedded SQS on the folder with the template's queues. */
export async function startQueues(
  queues: LocalQueue[],
  region: string,
  directory: string,
  { faults, orphansAfterMs = 0 }: { faults?: Faults | undefined; orphansAfterMs?: number } = {},
): Promise<Queues> {
  const { SqsStore, SnsStore, S3Store, PersistenceManager } = await loadFauxqs();
  const persistence = new PersistenceManager(directory);
  // The write-ahead log survives a kill of this process; a sync for each message would add nothing.
  persistence.db.exec('PRAGMA synchronous = NORMAL');
  upsert(queues, persistence.db);
  releaseMessages(persistence.db, orphansAfterMs);
  const sqsStore = new SqsStore();
  const snsStore = new SnsStore();
  const s3Store = new S3Store();
  persistence.loadSqsAndSns(sqsStore, snsStore);
  patchStores(sqsStore, persistence, (name) => queues.find((queue) => queue.name === name)?.maxOfGroup);
  const deliveries = faults?.random('deliveries');
  if (deliveries) for (const queue of sqsStore.allQueues()) misdeliver(queue, deliveries);

  const app = buildApp({ logger: false, defaultRegion: region, stores: { sqsStore, snsStore, s3Store } });
  await app.ready();

  return {
    handle(req, res, body) {
      const failed = deliveries && failDeletion(sqsStore, deliveries, req, body);
      if (failed) res.setHeader('content-type', 'application/x-amz-json-1.0').end(JSON.stringify(failed));
      else keepSent(req, body, () => app.routing(new ForwardedRequest(req, '/', req.headers, body), res));
    },
    send(queueName, body, delaySeconds) {
      const queue = sqsStore.getQueueByName(queueName);
      if (!queue) throw new Error(`There is no queue ${queueName}`);
      const delay = delaySeconds ?? Number(queue.attributes.DelaySeconds);
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

/** Returns the response to a failing deletion from a FIFO queue. Its messages are then delivered again. */
function failDeletion(store: Store, random: Random, { headers }: IncomingMessage, body: Buffer): object | undefined {
  if (headers['x-amz-target'] !== 'AmazonSQS.DeleteMessageBatch') return undefined;
  const { QueueUrl, Entries } = Object(JSON.parse(body.toString()));
  const queue = store.getQueue(String(QueueUrl));
  const seconds = queue?.isFifo() && Array.isArray(Entries) ? failedDeletion(random) : undefined;
  if (!queue || seconds === undefined) return undefined;
  for (const { ReceiptHandle } of Entries) queue.changeVisibility(String(ReceiptHandle), seconds);
  const Failed = Entries.map(({ Id }: { Id: string }) => ({ Id, Code: 'InternalError', SenderFault: false }));
  return { Successful: [], Failed };
}

/** Writes the queue rows directly: replacing a row in fauxqs would delete the queue's messages. */
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
 * Makes messages that were received before this start visible soon. Their receivers are gone, and a message that no
 * worker had claimed would stay hidden for the visibility timeout, up to 15 minutes.
 */
function releaseMessages(db: DatabaseSync, afterMs: number): void {
  db.prepare('UPDATE sqs_messages SET visibility_deadline = MIN(visibility_deadline, ?)').run(Date.now() + afterMs);
}
