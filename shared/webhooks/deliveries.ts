import type { Job, JobNews } from '../jobs/job.ts';
import type { JsonObject } from '../tasks/task.ts';
import { maxRecoveries, recoveryDelayMs } from '../tasks/transitions.ts';
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
  /** Writes a delivery that is not there yet; returns what was there, if anything. */
  create(delivery: Delivery): Promise<Delivery | undefined>;
  read(ref: DeliveryRef): Promise<Delivery | undefined>;
  /** Writes a delivery if it still has the version before; says whether it did. */
  replace(delivery: Delivery): Promise<boolean>;
  /** Puts a message on the queue, to come out after so many seconds, 900 at most. */
  send(ref: DeliveryRef, delaySeconds: number): Promise<void>;
  now(): number;
}

/** Calls a receiver once with a delivery, and never throws for what the receiver does. */
export type Call = (webhook: Webhook, delivery: Delivery) => Promise<Omit<Attempt, 'at'>>;

/** What SQS can delay; longer waits are the sweep's, which looks at what is due. */
const longestDelaySeconds = 900;
/** How long a message may take before the sweep sends it again. */
const graceMs = 120_000;
const slackMs = 2_000;
/** Longer than an attempt, so that two of one delivery do not overlap. */
const holdMs = 30_000;
/** A record is 400 KB at most. */
const largestBodyBytes = 300_000;

export type Deliveries = ReturnType<typeof createDeliveries>;

/** Hands events over to webhooks. Each step leaves a record that says what is owed, so none is lost with its process. */
export function createDeliveries(parts: DeliveryParts) {
  /** Makes a delivery of each event of a job for each webhook that wants it. Repeating it makes no further ones. */
  async function plan(job: Job, news: JobNews[], present: () => Promise<JsonObject>): Promise<void> {
    const events = webhookEventsOf(job, news);
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
          tries: 0,
          createdAt: timestamp,
          expiresAt: new Date(now + deliveryKeptMs).toISOString(),
          version: 1,
          dueAt: now + graceMs,
        };
        const known = await parts.create(delivery);
        // Whoever wrote it may have died before it sent the message; a second message finds the work done.
        if (!known || (known.state === 'pending' && known.tries === 0)) await parts.send(refOf(delivery), 0);
      }),
    );
  }

  /** Makes one attempt, unless the delivery is done or another attempt is under way. */
  async function attempt(ref: DeliveryRef, call: Call): Promise<void> {
    const delivery = await parts.read(ref);
    const now = parts.now();
    if (delivery?.state !== 'pending' || (delivery.heldUntil ?? 0) > now) return;
    // A message that came twice must not bring the next attempt forward.
    if (delivery.tries > 0 && (delivery.dueAt ?? 0) > now + graceMs + slackMs) return;
    const held = { ...delivery, heldUntil: now + holdMs, dueAt: now + graceMs, version: delivery.version + 1 };
    if (!(await parts.replace(held))) return;
    const webhook = await parts.webhook(held);
    if (!webhook || webhook.disabledAt !== undefined) {
      await finish(held, { at: isoTime(now), latencyMs: 0, error: 'The webhook was deleted or is disabled.' });
      return;
    }
    const outcome = await call(webhook, held);
    if (outcome.status === 410) await parts.disable(webhook);
    const next = afterAttempt(held, { at: isoTime(now), ...outcome }, parts.now());
    await parts.replace(withGrace(next));
    if (next.delaySeconds !== undefined && next.delaySeconds <= longestDelaySeconds)
      await parts.send(ref, next.delaySeconds);
  }

  function finish(held: Delivery, last: Attempt): Promise<boolean> {
    const { heldUntil: _held, dueAt: _due, ...rest } = held;
    return parts.replace({ ...rest, state: 'failed', attempts: [...held.attempts, last], version: held.version + 1 });
  }

  /** Sends the message of a delivery that is due again, since it was lost or the wait was too long for the queue. */
  async function drive(ref: DeliveryRef): Promise<void> {
    const delivery = await parts.read(ref);
    if (delivery?.dueAt === undefined || delivery.dueAt > parts.now()) return;
    if (!(await parts.replace({ ...delivery, dueAt: parts.now() + graceMs, version: delivery.version + 1 }))) return;
    await parts.send(ref, 0);
  }

  /** Counts that a delivery could not be driven, and fails it after the last attempt. Returns whether it was given up. */
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
    return finish(delivery, { at: isoTime(now), latencyMs: 0, error });
  }

  /** Starts a delivery anew, whatever became of it. */
  async function replay(ref: DeliveryRef): Promise<Delivery | undefined> {
    const delivery = await parts.read(ref);
    if (!delivery) return undefined;
    const { failedRecoveries: _failedRecoveries, ...rest } = delivery;
    const again: Delivery = {
      ...rest,
      state: 'pending',
      tries: 0,
      expiresAt: isoTime(parts.now() + deliveryKeptMs),
      dueAt: parts.now() + graceMs,
      version: delivery.version + 1,
    };
    if (!(await parts.replace(again))) return replay(ref);
    await parts.send(ref, 0);
    return again;
  }

  return { plan, attempt, drive, recoveryFailed, replay };
}

// The queue brings a short wait to its end; the sweep is there for when it does not.
function withGrace({ delivery, delaySeconds }: ReturnType<typeof afterAttempt>): Delivery {
  if (delivery.dueAt === undefined || delaySeconds === undefined || delaySeconds > longestDelaySeconds) return delivery;
  return { ...delivery, dueAt: delivery.dueAt + graceMs };
}

function refOf({ webhook, id }: Delivery): DeliveryRef {
  return { webhook, delivery: id };
}

function bodyOf(type: string, timestamp: string, data: JsonObject): string {
  const body = JSON.stringify({ type, timestamp, data });
  if (Buffer.byteLength(body) <= largestBodyBytes) return body;
  const { tasks: _tasks, ...job } = data;
  return JSON.stringify({ type, timestamp, data: { ...job, truncated: true } });
}

function isoTime(time: number): string {
  return new Date(time).toISOString();
}
