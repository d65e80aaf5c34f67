import { randomBytes } from 'node:crypto';
import type { Job, JobEventType } from '../jobs/job.ts';

export const webhookEvents = ['job.created', 'job.completed', 'job.failed'] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

export interface Webhook {
  /** Its own id, or that of its job. */
  id: string;
  user: string;
  url: string;
  events: WebhookEvent[];
  /** `whsec_` and the key in base64, as the Standard Webhooks specification writes secrets. */
  secret: string;
  /** Present if it was given with a job. */
  job?: string;
  createdAt: string;
  /** Set when the receiver responded with 410 Gone. */
  disabledAt?: string;
  /** When the record expires; only webhooks of jobs do. */
  expiresAt?: string;
}

export interface Attempt {
  at: string;
  /** HTTP status of the response, if any. */
  status?: number;
  latencyMs: number;
  error?: string;
}

/** One event for one webhook, with every attempt to deliver it. */
export interface Delivery {
  id: string;
  webhook: string;
  user: string;
  event: WebhookEvent;
  job: string;
  /** The exact bytes that every attempt sends. */
  body: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: Attempt[];
  /** Attempts since the event, or since it was last replayed. */
  attemptCount: number;
  /** Until when an attempt locks it, in milliseconds. */
  lockedUntil?: number;
  createdAt: string;
  expiresAt: string;
  version: number;
  /** When the sweep should check it, in milliseconds; absent if nothing is pending. */
  dueAt?: number;
  /** Consecutive failures of the sweep to queue it. */
  failedRecoveries?: number;
}

/** Seconds between attempts: short at first, for restarts, then over a day and a half, for outages. */
export const retryDelays = [5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600, 28_800, 28_800] as const;

/** How long a delivery is kept; attempts end well before. */
export const deliveryKeptMs = 4 * 24 * 60 * 60 * 1000;

const maxStoredAttempts = 50;

/** Makes a random signing secret. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Makes the webhook that is given with a job; it receives events of that job only and expires with its last delivery. */
export function webhookOfJob(job: Job, url: string): Webhook {
  const { id, user, createdAt } = job;
  const expiresAt = new Date(Date.parse(job.expiresAt) + deliveryKeptMs).toISOString();
  return { id, user, url, events: [...webhookEvents], secret: newSecret(), job: id, createdAt, expiresAt };
}

/** Returns the webhook events for events of a job. */
export function webhookEventsOf(job: Job, events: JobEventType[]): WebhookEvent[] {
  return events.flatMap((type): WebhookEvent[] => {
    if (type === 'created') return ['job.created'];
    if (type === 'started') return [];
    return [job.status === 'completed' ? 'job.completed' : 'job.failed'];
  });
}

/** Returns the id of a delivery. An event of a job happens once, so publishing it twice makes one delivery. */
export function deliveryId(job: string, event: WebhookEvent): string {
  return `${job}_${event.replace('job.', '')}`;
}

/** Returns the delivery after an attempt, with the delay of the next one in seconds, if any. */
export function afterAttempt(
  delivery: Delivery,
  attempt: Attempt,
  now: number,
): { delivery: Delivery; delaySeconds?: number } {
  const { lockedUntil: _locked, dueAt: _due, failedRecoveries: _failed, ...rest } = delivery;
  const made = {
    ...rest,
    attempts: [...delivery.attempts, attempt].slice(-maxStoredAttempts),
    attemptCount: delivery.attemptCount + 1,
    version: delivery.version + 1,
  };
  if (attempt.status !== undefined && attempt.status >= 200 && attempt.status <= 299)
    return { delivery: { ...made, state: 'delivered' } };
  const delaySeconds = retryDelays[delivery.attemptCount];
  if (delaySeconds === undefined || attempt.status === 410) return { delivery: { ...made, state: 'failed' } };
  return { delivery: { ...made, dueAt: now + delaySeconds * 1000 }, delaySeconds };
}
