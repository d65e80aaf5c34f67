import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { required } from '../settings.ts';
import { batchesOf } from './batches.ts';
import type { BusEvent } from './queues.ts';

/** One attempt: the caller queues events that the bus refuses. */
const client = new EventBridgeClient({ maxAttempts: 1 });
const maxCallEntries = 10;
/** A call is limited to 1 MiB; a task is at most 200 KB. */
const maxCallBytes = 900_000;

export interface Refused {
  event: BusEvent;
  cause: unknown;
}

/** Puts events on the bus, and returns those that it did not accept in time, with the cause. */
export async function putEvents(events: BusEvent[], timeoutMs: number): Promise<Refused[]> {
  const signal = AbortSignal.timeout(timeoutMs);
  const batches = batchesOf(events, ({ detail }) => Buffer.byteLength(detail), maxCallEntries, maxCallBytes);
  return (await Promise.all(batches.map((batch) => putBatch(batch, signal)))).flat();
}

async function putBatch(batch: BusEvent[], abortSignal: AbortSignal): Promise<Refused[]> {
  const EventBusName = required('LATHE_EVENT_BUS');
  try {
    const { Entries = [] } = await client.send(
      new PutEventsCommand({
        Entries: batch.map(({ name, detail }) => ({ EventBusName, Source: 'lathe', DetailType: name, Detail: detail })),
      }),
      { abortSignal },
    );
    return batch.flatMap((event, index) => {
      const { ErrorCode, ErrorMessage } = Entries[index] ?? {};
      return ErrorCode === undefined ? [] : [{ event, cause: new Error(`${ErrorCode}: ${ErrorMessage}`) }];
    });
  } catch (cause) {
    return batch.map((event) => ({ event, cause }));
  }
}
