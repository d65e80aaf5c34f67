import { mkdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { QueueFacts } from '../monitoring/monitoring.ts';
import type { LocalStack } from '../template/model.ts';
import { startExpiry } from './expiry.ts';
import { startQueues } from './queues.ts';
import type { CreationListener, S3Request } from './s3/request.ts';
import { createS3 } from './s3/service.ts';
import { ObjectStore } from './s3/store.ts';
import { startTables } from './tables.ts';

export interface EmbeddedServers {
  dynamodb(req: IncomingMessage, res: ServerResponse, body: Buffer): void;
  sqs(req: IncomingMessage, res: ServerResponse, body: Buffer): void;
  s3(request: S3Request, res: ServerResponse): Promise<void>;
  /** Where S3 keeps its objects, for forms, which the gate stores itself. */
  objects: ObjectStore;
  onObjectCreated(listener: CreationListener): void;
  /** Sends a message in the name of a service of AWS, which needs no signature. */
  sendMessage(queueName: string, body: string): void;
  queueFacts(): QueueFacts[];
  close(): Promise<void>;
}

/** Starts DynamoDB, SQS and S3 in this process on the data folder, with the resources of the stack. */
export async function startServers(options: {
  stack: LocalStack;
  dataDirectory: string;
  /** The address of the front server, such as `http://127.0.0.1:3000`. */
  origin: string;
  onError?: (error: unknown) => void;
}): Promise<EmbeddedServers> {
  const { stack, dataDirectory, onError = () => undefined } = options;
  for (const queue of stack.queues) {
    // The SDK calls the host of a queue's URL, not its endpoint, when the two differ.
    if (new URL(queue.url).origin !== options.origin)
      throw new Error(`The queue ${queue.logicalId} is not at the origin`);
  }
  const folder = (name: string) => join(dataDirectory, name);
  await mkdir(folder('s3'), { recursive: true });
  await mkdir(folder('dynamodb'), { recursive: true });
  const tables = await startTables(stack.tables, folder('dynamodb'));
  const queues = await startQueues(stack.queues, stack.region, folder('sqs'));
  const store = new ObjectStore(
    folder('s3'),
    stack.buckets.map((bucket) => bucket.name),
  );
  const s3 = createS3(store, stack.region);
  const stopExpiry = startExpiry({ tables: stack.tables, buckets: stack.buckets, database: tables, store, onError });

  return {
    dynamodb: tables.handle,
    sqs: queues.handle,
    s3: s3.handle,
    objects: store,
    onObjectCreated: s3.onCreated,
    sendMessage: queues.send,
    queueFacts: queues.facts,
    async close() {
      stopExpiry();
      await tables.close();
      await queues.close();
      store.close();
    },
  };
}
