import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CapacityMeter } from '../dynamodb/capacity/meter.ts';
import { reachTables } from '../dynamodb/remote-tables.ts';
import { startTables, type Tables } from '../dynamodb/tables.ts';
import type { Faults } from '../faults/faults.ts';
import { reachObjects } from '../s3/remote-objects.ts';
import type { FormStore, S3Service } from '../s3/request.ts';
import { createS3 } from '../s3/service.ts';
import { ObjectStore } from '../s3/store.ts';
import { type Queues, startQueues } from '../sqs/queues.ts';
import { reachQueues } from '../sqs/remote-queues.ts';
import type { LocalStack } from '../template/model.ts';
import { startExpiry } from './expiry.ts';

/** Addresses of servers to use instead of the embedded ones. */
export interface ServerAddresses {
  dynamodb?: string | undefined;
  sqs?: string | undefined;
  /** With user and password: the access key id and secret access key of an administrator there. */
  s3?: string | undefined;
}

export interface Servers {
  dynamodb: Tables['handle'];
  sqs: Queues['handle'];
  s3: S3Service['handle'];
  forms: FormStore;
  /** The embedded S3's store; undefined if another S3 is used. */
  objects: ObjectStore | undefined;
  onObjectCreated: S3Service['onCreated'];
  /** Sends a message as an AWS service, without a signature. */
  sendMessage: Queues['send'];
  queueFacts: Queues['facts'];
  close(): Promise<void>;
}

/**
 * Starts DynamoDB, SQS and S3 in this process on the data folder, or connects to those at the addresses, with the
 * resources of the stack.
 */
export async function startServers(options: {
  stack: LocalStack;
  dataDirectory: string;
  /** The address of the front server, such as `http://127.0.0.1:3000`. */
  origin: string;
  onError?: (error: unknown) => void;
  addresses?: ServerAddresses;
  /** Counts the capacity units of the embedded DynamoDB. */
  meter?: CapacityMeter | undefined;
  /** Faults of the embedded servers. */
  faults?: Faults | undefined;
  /** When messages become visible again if their receivers died with this process, in milliseconds. */
  orphansAfterMs?: number;
}): Promise<Servers> {
  const { stack, dataDirectory, addresses = {}, faults, orphansAfterMs = 0, onError = () => undefined } = options;
  for (const queue of stack.queues) {
    // The SDK calls the host of a queue's URL instead of its endpoint if the two differ.
    if (new URL(queue.url).origin !== options.origin)
      throw new Error(`The queue ${queue.logicalId} is not at the origin`);
  }
  const folder = (name: string) => join(dataDirectory, name);
  await mkdir(folder('s3'), { recursive: true });
  await mkdir(folder('dynamodb'), { recursive: true });
  const tables = addresses.dynamodb
    ? await reachTables(stack.tables, addresses.dynamodb)
    : await startTables(stack.tables, folder('dynamodb'), { meter: options.meter, faults });
  const queues = addresses.sqs
    ? await reachQueues(stack.queues, stack.region, addresses.sqs)
    : await startQueues(stack.queues, stack.region, folder('sqs'), { faults, orphansAfterMs });
  // Another S3 is responsible for expiring its objects.
  const store = addresses.s3
    ? undefined
    : new ObjectStore(
        folder('s3'),
        stack.buckets.map((bucket) => bucket.name),
      );
  const s3 = store
    ? createS3(store, stack.region)
    : await reachObjects(stack.buckets, stack.region, { address: addresses.s3 ?? '', folder: folder('s3') });
  const stopExpiry = startExpiry({ tables: stack.tables, buckets: stack.buckets, database: tables, store, onError });

  return {
    dynamodb: tables.handle,
    sqs: queues.handle,
    s3: s3.handle,
    forms: s3.forms,
    objects: store,
    onObjectCreated: s3.onCreated,
    sendMessage: queues.send,
    queueFacts: queues.facts,
    async close() {
      stopExpiry();
      await tables.close();
      await queues.close();
      s3.close();
    },
  };
}
