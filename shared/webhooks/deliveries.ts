import type { Job, JobEventType } from '../jobs/job.ts';
import { maxRecoveries, recoveryDelayMs } from '../tasks/due.ts';
import type { JsonObject } from '../tasks/task.ts';
import {
  type Attempt,
  afterAttempt,
  type Delivery,
  deliveryId,
  deliveryKeptMs,
  type Webhook,
  webhookEventsOf,
} from './webhook.ts';

/** Which delivery a message of the queue is about. */
export interface DeliveryRef {
  webhook: string;
  delivery: string;
}

export interface DeliveryParts {
  /** Returns the webhooks of a user and the one given with a job. */
  webhooksFor(job: Job): Promise<Webhook[]>;
  webhook(delivery: Delivery): Promise<Webhook | undefined>;
  disable(webhook: Webhook): Promise<void>;
  /** Creates a delivery; returns the existing one, if any, and leaves it as it is. */
  create(delivery: Delivery): Promise<Delivery | undefined>;
  read(ref: DeliveryRef): Promise<Delivery | undefined>;
  /** Writes a delivery if the stored one has the previous version; returns whether it did. */
  replace(delivery: Delivery): Promise<boolean>;
  /** Queues a message with a delay of up to 900 seconds. */
  send(ref: DeliveryRef, delaySeconds: number): Promise<void>;
  /** Called when a delivery has failed permanently. */
  onFailed(delivery: Delivery): void;
  now(): number;
}

/** Calls a receiver once with a delivery. Never throws for errors of the receiver. */
export type Call = (webhook: Webhook, delivery: Delivery) => Promise<Omit<Attempt, 'at'>>;

/** The SQS limit. Longer delays are left to the sweep. */
const maxDelaySeconds = 900;
/** How late a message may be before the sweep sends it again. */
const graceMs = 120_000;
const slackMs = 2_000;
/** Longer than an attempt, so that two attempts of a delivery never overlap. */
const lockMs = 30_000;
/** A record is at most 400 KB. */
const maxBodyBytes = 300_000;

export type Deliveries = ReturnType<typeof createDeliveries>;

/** Delivers events to webhooks. Each step records what is pending, so no delivery is lost when a process dies. */
export function createDeliveries(parts: DeliveryParts) {
  /** Creates a delivery for each event of a job and each webhook that subscribes to it. Idempotent. */
  async function plan(job: Job, types: JobEventType[], present: () => Promise<JsonObject>): Promise<void> {
    const events = webhookEventsOf(job, types);
    if (events.length === 0) return;
    const webhooks = (await parts.webhooksFor(job)).filter(({ disabledAt }) => disabledAt === undefined);
    const wanted = webhooks.flatMap((webhook) =>
      events.filter((event) => webhook.events.includes(event)).map((event) => ({ webhook, event })),
    );
    if (wanted.length === 0) return;
    const data = await present();
    await Promise.all(
      wanted.map(async ({ webhook, event }) => {
        const now = parts.now();
        const timestamp = new Date(now).toISOString();
        const delivery: Delivery = {
          id: deliveryId(job.id, event),
          webhook: webhook.id,
          user: webhook.user,
          event,
          job: job.id,
          body: bodyOf(event, timestamp, data),
          state: 'pending',
          attempts: [],
          attemptCount: 0,
          createdAt: timestamp,
          expiresAt: new Date(now + deliveryKeptMs).toISOString(),
          version: 1,
          dueAt: now + graceMs,
        };
        const known = await parts.create(delivery);
        // The creating process may have died before it sent the message. A duplicate message finds nothing to do.
        if (!known || (known.state === 'pending' && known.attemptCount === 0)) await parts.send(refOf(delivery), 0);
      }),
    );
  }

  /** Makes one attempt, unless the delivery has ended or is being attempted. */
  async function attempt(ref: DeliveryRef, call: Call): Promise<void> {
    const delivery = await parts.read(ref);
    const now = parts.now();
    if (delivery?.state !== 'pending' || (delivery.lockedUntil ?? 0) > now) return;
    // A duplicate message must not advance the next attempt.
    if (delivery.attemptCount > 0 && (delivery.dueAt ?? 0) > now + graceMs + slackMs) return;
    const locked = { ...delivery, lockedUntil: now + lockMs, dueAt: now + graceMs, version: delivery.version + 1 };
    if (!(await parts.replace(locked))) return;
    const webhook = await parts.webhook(locked);
    if (!webhook || webhook.disabledAt !== undefined) {
      await finish(locked, { at: isoTime(now), latencyMs: 0, error: 'The webhook was deleted or is disabled.' });
      return;
    }
    const outcome = await call(webhook, locked);
    if (outcome.status === 410) await parts.disable(webhook);
    const next = afterAttempt(locked, { at: isoTime(now), ...outcome }, parts.now());
    if ((await parts.replace(withGrace(next))) && next.delivery.state === 'failed') parts.onFailed(next.delivery);
    if (next.delaySeconds !== undefined && next.delaySeconds <= maxDelaySeconds)
      await parts.send(ref, next.delaySeconds);
  }

  function finish(delivery: Delivery, last: Attempt): Promise<boolean> {
    const { lockedUntil: _locked, dueAt: _due, ...rest } = delivery;
    const version = delivery.version + 1;
    return parts.replace({ ...rest, state: 'failed', attempts: [...delivery.attempts, last], version });
  }

  /** Requeues a delivery that is due: its message was lost, or its delay was too long for the queue. */
  async function recover(ref: DeliveryRef): Promise<void> {
    const delivery = await parts.read(ref);
    if (delivery?.dueAt === undefined || delivery.dueAt > parts.now()) return;
    if (!(await parts.replace({ ...delivery, dueAt: parts.now() + graceMs, version: delivery.version + 1 }))) return;
    await parts.send(ref, 0);
  }

  /** Counts a failed recovery of a delivery, and fails it after the last attempt. Returns whether it failed. */
  async function recoveryFailed(ref: DeliveryRef): Promise<boolean> {
    const delivery = await parts.read(ref);
    if (delivery?.dueAt === undefined) return false;
    const now = parts.now();
    const failedRecoveries = (delivery.failedRecoveries ?? 0) + 1;
    if (failedRecoveries < maxRecoveries) {
      const dueAt = now + recoveryDelayMs(failedRecoveries);
      await parts.replace({ ...delivery, failedRecoveries, dueAt, version: delivery.version + 1 });
      return false;
    }
    const error = 'The delivery could not be queued because of an internal error.';
    const isGivenUp = await finish(delivery, { at: isoTime(now), latencyMs: 0, error });
    if (isGivenUp) parts.onFailed(delivery);
    return isGivenUp;
  }

  /** Restarts a delivery in any state. */
  async function replay(ref: DeliveryRef): Promise<Delivery | undefined> {
    const delivery = await parts.read(ref);
    if (!delivery) return undefined;
    const { failedRecoveries: _failedRecoveries, ...rest } = delivery;
    const again: Delivery = {
      ...rest,
      state: 'pending',
      attemptCount: 0,
      expiresAt: isoTime(parts.now() + deliveryKeptMs),
      dueAt: parts.now() + graceMs,
      version: delivery.version + 1,
    };
    if (!(await parts.replace(again))) return replay(ref);
    await parts.send(ref, 0);
    return again;
  }

  return { plan, attempt, recover, recoveryFailed, replay };
}

// The queue ends a short delay. The sweep takes over if it does not.
function withGrace({ delivery, delaySeconds }: ReturnType<typeof afterAttempt>): Delivery {
  if (delivery.dueAt === undefined || delaySeconds === undefined || delaySeconds > maxDelaySeconds) return delivery;
  return { ...delivery, dueAt: delivery.dueAt + graceMs };
}

function refOf({ webhook, id }: Delivery): DeliveryRef {
  return { webhook, delivery: id };
}

function bodyOf(type: string, timestamp: string, data: JsonObject): string {
  const body = JSON.stringify({ type, timestamp, data });
  if (Buffer.byteLength(body) <= maxBodyBytes) return body;
  const { tasks: _tasks, ...job } = data;
  return JSON.stringify({ type, timestamp, data: { ...job, truncated: true } });
}

function isoTime(time: number): string {
  return new Date(time).toISOString();
}
