import { setTimeout as wait } from 'node:timers/promises';
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { FunctionError } from '../lambda/function-error.ts';
import type { LambdaRuntime } from '../lambda/runtime.ts';
import type { QueueSource } from '../template/model.ts';
import { failedMessageIds } from './batch-response.ts';
import { Concurrency } from './concurrency.ts';
import { buildSqsEvent } from './sqs-event.ts';

const maxPollSeconds = 20;
/** Maximum messages per SQS request. */
const requestLimit = 10;
const zipConcurrency = 10;
const firstBackoffMilliseconds = 100;
const maxBackoffMilliseconds = 5_000;
/** SQS default for queues without a setting. */
const defaultVisibilitySeconds = 30;

export interface QueueSourceDependencies {
  runtime: LambdaRuntime;
  /** Signs as the function's role, as Lambda's poller does. */
  sqs: SQSClient;
  /** Maximum concurrent batches. */
  concurrency: number;
  /** Delivers every batch a second time after it was handled, as SQS may. */
  twice?: boolean;
  log: (line: string) => void;
}

/** Invokes a function with the messages of a queue. */
export function startQueueSource(
  source: QueueSource,
  { runtime, sqs, concurrency, twice = false, log }: QueueSourceDependencies,
): { stop(): Promise<void>; drain(): Promise<void> } {
  const { queue, batchSize, batchingWindowSeconds } = source;
  const stopping = new AbortController();
  const { signal } = stopping;
  const slots = new Concurrency(concurrency);
  const deletions = new Set<Promise<void>>();
  let isChecked = false;
  let draining = false;
  const polling = poll();

  async function poll(): Promise<void> {
    let backoff = firstBackoffMilliseconds;
    while (!signal.aborted && !draining) {
      // The slot first: a message's visibility timeout starts when it is received.
      await slots.take();
      if (signal.aborted || draining) return;
      const batch: Message[] = [];
      try {
        await collect(batch);
        backoff = firstBackoffMilliseconds;
      } catch (error) {
        if (!signal.aborted) {
          log(`${queue.name}: could not receive, retrying in ${backoff} ms: ${describe(error)}`);
          await wait(backoff, undefined, { signal }).catch(() => {});
          backoff = Math.min(backoff * 2, maxBackoffMilliseconds);
        }
      }
      if (batch.length === 0) slots.reset();
      if (batch.length === 0 || signal.aborted) slots.release();
      else void work(batch).finally(() => slots.release());
    }
  }

  async function collect(batch: Message[]): Promise<void> {
    // Lambda's poller does this too, and needs the permission.
    if (!isChecked) await sqs.send(new GetQueueAttributesCommand({ QueueUrl: queue.url, AttributeNames: ['All'] }));
    isChecked = true;
    await receive(batch, maxPollSeconds);
    if (batch.length === 0) return;
    const closes = Date.now() + batchingWindowSeconds * 1000;
    for (let left = closes - Date.now(); batch.length < batchSize && left > 0; left = closes - Date.now()) {
      // SQS waits in whole seconds. The rest of the window passes before one last receive.
      if (left < 1000) await wait(left, undefined, { signal });
      await receive(batch, Math.min(maxPollSeconds, left < 1000 ? 0 : Math.floor(left / 1000)));
    }
  }

  async function receive(batch: Message[], seconds: number): Promise<void> {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queue.url,
        MaxNumberOfMessages: Math.min(requestLimit, batchSize - batch.length),
        WaitTimeSeconds: seconds,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['All'],
      }),
      { abortSignal: signal },
    );
    batch.push(...Messages);
  }

  async function work(batch: Message[]): Promise<void> {
    let done: Message[];
    try {
      if (twice) await invoke(batch);
      const response = await invoke(batch);
      done = source.reportBatchItemFailures ? succeeded(batch, response) : batch;
    } catch (error) {
      if (!signal.aborted) log(`${queue.name}: ${source.function.name} failed: ${describe(error)}`);
      return;
    }
    // Not awaited, so that the slot is free for the next message.
    const deletion = remove(done).finally(() => deletions.delete(deletion));
    deletions.add(deletion);
  }

  /** Invokes the function. While it is throttled, retries until the messages are visible to others. */
  async function invoke(batch: Message[]): Promise<unknown> {
    const traces = batch.map(({ Attributes }) => Attributes?.AWSTraceHeader);
    // The account, for fair sharing of environments.
    const client = batch[0]?.Attributes?.MessageGroupId;
    const visibleAt = Date.now() + Number(queue.attributes.VisibilityTimeout ?? defaultVisibilitySeconds) * 1000;
    for (let backoff = firstBackoffMilliseconds; ; backoff = Math.min(backoff * 2, maxBackoffMilliseconds)) {
      try {
        return await runtime.invoke(source.function, buildSqsEvent(queue, batch), { traces, client });
      } catch (error) {
        if (!isThrottled(error) || draining || Date.now() + backoff >= visibleAt) throw error;
      }
      await wait(backoff, undefined, { signal });
    }
  }

  function succeeded(batch: Message[], response: unknown): Message[] {
    const failed = failedMessageIds(response, new Set(batch.map(({ MessageId = '' }) => MessageId)));
    if (!failed) {
      log(`${queue.name}: ${source.function.name} reported its failures in a format that Lambda does not accept`);
      return [];
    }
    if (failed.size > 0) log(`${queue.name}: ${source.function.name} failed for ${[...failed].join(', ')}`);
    return batch.filter(({ MessageId = '' }) => !failed.has(MessageId));
  }

  async function remove(messages: Message[]): Promise<void> {
    for (let start = 0; start < messages.length; start += requestLimit) {
      const part = messages.slice(start, start + requestLimit);
      const Entries = part.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      try {
        const { Failed = [] } = await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queue.url, Entries }));
        for (const { Code, Message } of Failed) log(`${queue.name}: could not delete a message: ${Code} ${Message}`);
      } catch (error) {
        log(`${queue.name}: could not delete ${part.length} messages: ${describe(error)}`);
      }
    }
  }

  return {
    // The receive is not aborted: it could still take a message and hide it from the next poller.
    async drain() {
      draining = true;
      slots.release();
      await polling;
      await Promise.all(deletions);
    },
    async stop() {
      stopping.abort();
      // Releases a poll that waits for a slot: the invocation that holds it may be long.
      slots.release();
      await polling;
      await Promise.all(deletions);
    },
  };
}

/** Maximum messages of a queue in flight: in total and per group. */
export interface Slots {
  concurrency: number;
  perGroup?: number | undefined;
}

/**
 * Returns the slots of a queue. An image function has one environment more than there are cores. More messages would
 * wait while their visibility timeouts elapse. Reserved concurrency does not count: Lambda's pollers ignore it, and
 * invocations beyond it are refused.
 */
export function slotsOf({ function: fn, maximumConcurrency }: QueueSource, cores: number): Slots {
  const own = fn.packaging === 'image' ? cores : (maximumConcurrency ?? zipConcurrency);
  return { concurrency: Math.min(own, maximumConcurrency ?? own) };
}

function isThrottled(error: unknown): boolean {
  return error instanceof FunctionError && error.errorType === 'TooManyRequestsException';
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
