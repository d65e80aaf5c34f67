import { Webhook as Verifier } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { signedHeaders } from '../../../functions/events/webhooks/sign.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { maxRecoveries } from '../../../shared/tasks/due.ts';
import { type Call, createDeliveries, type DeliveryRef } from '../../../shared/webhooks/deliveries.ts';
import {
  type Attempt,
  type Delivery,
  newSecret,
  retryDelays,
  type Webhook,
  webhookEvents,
  webhookOfJob,
} from '../../../shared/webhooks/webhook.ts';

const secondMs = 1_000;
const hourMs = 3_600 * secondMs;
const start = Date.UTC(2026, 0, 1);

/** Receives after which the queue of the stack gives a message up. */
const maxReceives = 10;

type Receiver = (body: string, now: number) => Omit<Attempt, 'at'>;

/** Deliveries in memory on a clock that jumps from one due time to the next. */
class Simulation {
  now = start;
  readonly webhook: Webhook = {
    id: '6af9126cc0830000f25c62d1',
    user: '6af9126cc0830000f25c62d2',
    url: 'https://receiver.example/hook',
    events: [...webhookEvents],
    secret: newSecret(),
    createdAt: '',
  };
  readonly records = new Map<string, Delivery>();
  readonly received: { body: string; at: number }[] = [];
  readonly failed: string[] = [];
  #queue: { ref: DeliveryRef; at: number; receives: number }[] = [];
  readonly deadLetters: DeliveryRef[] = [];
  /** How many calls of a process go well before one ends it; none does unless told. */
  deathRate = 0;
  /** Throws in place of the n-th call from now on, as a process that dies there. */
  dieAt = Number.POSITIVE_INFINITY;
  receiver: Receiver = () => ({ status: 200, latencyMs: 1 });

  readonly deliveries = createDeliveries({
    webhooksFor: async () => [this.webhook],
    webhook: async () => this.webhook,
    disable: async (webhook) => {
      webhook.disabledAt = new Date(this.now).toISOString();
    },
    create: async (delivery) => {
      this.#mayDie();
      const known = this.records.get(delivery.id);
      if (!known) this.records.set(delivery.id, delivery);
      return known;
    },
    read: async ({ delivery }) => this.records.get(delivery),
    replace: async (delivery) => {
      this.#mayDie();
      if (this.records.get(delivery.id)?.version !== delivery.version - 1) return false;
      this.records.set(delivery.id, delivery);
      return true;
    },
    send: async (ref, delaySeconds) => {
      this.#mayDie();
      expect(delaySeconds).toBeLessThanOrEqual(900);
      this.#queue.push({ ref, at: this.now + delaySeconds * secondMs, receives: 0 });
    },
    onFailed: ({ id }) => void this.failed.push(id),
    now: () => this.now,
  });

  readonly #call: Call = async (_webhook, { body }) => {
    this.#mayDie();
    const outcome = this.receiver(body, this.now);
    if (outcome.status !== undefined) this.received.push({ body, at: this.now });
    return outcome;
  };

  #mayDie(): void {
    this.dieAt -= 1;
    if (this.dieAt < 0 || Math.random() < this.deathRate) {
      this.dieAt = Number.POSITIVE_INFINITY;
      throw new Error('The process died.');
    }
  }

  publish(id: string): Promise<void> {
    return this.deliveries.plan(jobOf(id), ['ended'], async () => ({ id }));
  }

  /** Runs queue and sweep until so long from the start, each minute a sweep as in the stack. */
  async runUntil(end: number): Promise<void> {
    const minute = 60 * secondMs;
    let sweep = this.now + minute;
    while (this.now < end) {
      const next = this.#queue.reduce((soonest, { at }) => Math.min(soonest, at), Math.min(sweep, end));
      this.now = Math.max(this.now, next);
      const ready = this.#queue.filter(({ at }) => at <= this.now);
      this.#queue = this.#queue.filter(({ at }) => at > this.now);
      // What fails is redelivered after the visibility time-out.
      for (const { ref, receives } of ready) {
        await this.deliveries.attempt(ref, this.#call).catch(() => {
          if (receives + 1 === maxReceives) this.deadLetters.push(ref);
          else this.#queue.push({ ref, at: this.now + minute, receives: receives + 1 });
        });
      }
      if (this.now < sweep) continue;
      sweep = this.now + minute;
      for (const { webhook, id, dueAt } of [...this.records.values()])
        if (dueAt !== undefined && dueAt <= this.now)
          await this.deliveries.recover({ webhook, delivery: id }).catch(() => undefined);
    }
  }
}

function jobOf(id: string): Job {
  const user = '6af9126cc0830000f25c62d2';
  const times = { createdAt: '', updatedAt: '', expiresAt: '' };
  return { id, user, status: 'completed', tasks: [], operations: {}, open: [], ...times, version: 3 };
}

const jobIds = (count: number) =>
  Array.from({ length: count }, (_, index) => (0x6af9126cn * 2n ** 64n + BigInt(index)).toString(16).padStart(24, '0'));

describe('a receiver', () => {
  test('that is down for a day gets each event once it is back', async () => {
    const simulation = new Simulation();
    const back = start + 24 * hourMs;
    simulation.receiver = (_body, now) =>
      now < back ? { error: 'ECONNREFUSED', latencyMs: 1 } : { status: 204, latencyMs: 1 };
    const ids = jobIds(200);
    for (const id of ids) await simulation.publish(id);
    await simulation.runUntil(start + 36 * hourMs);
    expect(new Set(simulation.received.map(({ body }) => JSON.parse(body).data.id))).toEqual(new Set(ids));
    expect([...simulation.records.values()].every(({ state, dueAt }) => state === 'delivered' && !dueAt)).toBe(true);
  });

  test('that fails is tried at growing intervals over more than a day, and then given up', async () => {
    const simulation = new Simulation();
    simulation.receiver = () => ({ status: 500, latencyMs: 1 });
    await simulation.publish(jobIds(1)[0] ?? '');
    await simulation.runUntil(start + 72 * hourMs);
    const times = simulation.received.map(({ at }) => at);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(times).toHaveLength(retryDelays.length + 1);
    expect((times.at(-1) ?? 0) - start).toBeGreaterThan(24 * hourMs);
    // The sweep looks once a minute, so a gap may be that much longer than its predecessor allows.
    expect(gaps.every((gap, index) => gap + 60 * secondMs >= (gaps[index - 1] ?? 0))).toBe(true);
    expect([...simulation.records.values()]).toMatchObject([{ state: 'failed' }]);
    expect(simulation.failed).toEqual([...simulation.records.keys()]);
  });

  test('that responds with 410 is not called again', async () => {
    const simulation = new Simulation();
    simulation.receiver = () => ({ status: 410, latencyMs: 1 });
    const [first = '', second = ''] = jobIds(2);
    await simulation.publish(first);
    await simulation.runUntil(start + hourMs);
    await simulation.publish(second);
    await simulation.runUntil(start + 48 * hourMs);
    expect(simulation.received).toHaveLength(1);
    expect(simulation.webhook.disabledAt).toBeDefined();
    expect(simulation.records.size).toBe(1);
  });
});

test('of 10,000 deliveries none is lost while receivers misbehave and processes die, and none is given up', async () => {
  const simulation = new Simulation();
  const accepted = new Set<string>();
  const outages = Array.from({ length: 10 }, () => start + Math.random() * 12 * hourMs);
  simulation.receiver = (body, now) => {
    const isDown = outages.some((from) => now >= from && now < from + hourMs / 2);
    const chance = Math.random();
    if (isDown || chance < 0.1) return { error: 'ECONNRESET', latencyMs: 1 };
    if (chance < 0.15) return { error: 'The receiver did not respond within 15 seconds.', latencyMs: 15_000 };
    if (chance < 0.25) return { status: chance < 0.2 ? 302 : 503, latencyMs: 1 };
    accepted.add(JSON.parse(body).data.id);
    return { status: 200, latencyMs: 1 };
  };
  simulation.deathRate = 0.02;
  const ids = jobIds(10_000);
  for (const id of ids) {
    const publish = async (): Promise<void> => simulation.publish(id).catch(publish);
    await publish();
  }
  await simulation.runUntil(start + 34 * hourMs);
  expect(accepted.size).toBe(ids.length);
  expect([...simulation.records.values()].filter(({ state }) => state !== 'delivered')).toEqual([]);
  expect(simulation.deadLetters).toEqual([]);
  expect(simulation.failed).toEqual([]);
});

test('a webhook that is given with a job is there until its last attempt, though the job is gone by then', () => {
  const expiresAt = new Date(start + 24 * hourMs).toISOString();
  const job: Job = { ...jobOf(jobIds(1)[0] ?? ''), expiresAt };
  const longest = retryDelays.reduce((sum, seconds) => sum + seconds * secondMs, 0);
  // A job may end at the very end of its time.
  const lastAttempt = Date.parse(expiresAt) + longest;
  expect(Date.parse(webhookOfJob(job, 'https://receiver.example/').expiresAt ?? '')).toBeGreaterThan(lastAttempt);
});

test.each([0, 1, 2, 3, 4, 5, 6])('a process that dies at its call %i loses no delivery', async (call) => {
  const simulation = new Simulation();
  const [id = ''] = jobIds(1);
  simulation.dieAt = call;
  // The relay's message comes again when the relay died over it.
  await simulation.publish(id).catch(() => simulation.publish(id));
  await simulation.runUntil(start + hourMs);
  expect(simulation.received.length).toBeGreaterThanOrEqual(1);
  expect([...simulation.records.values()]).toMatchObject([{ state: 'delivered' }]);
});

test('an event that is published again makes no further delivery', async () => {
  const simulation = new Simulation();
  const [id = ''] = jobIds(1);
  await simulation.publish(id);
  await simulation.publish(id);
  await simulation.runUntil(start + hourMs);
  await simulation.publish(id);
  await simulation.runUntil(start + 2 * hourMs);
  expect(simulation.received).toHaveLength(1);
});

test('a delivery that is sent again by hand is received again', async () => {
  const simulation = new Simulation();
  const [id = ''] = jobIds(1);
  await simulation.publish(id);
  await simulation.runUntil(start + hourMs);
  await simulation.deliveries.replay({ webhook: simulation.webhook.id, delivery: `${id}_completed` });
  await simulation.runUntil(start + 2 * hourMs);
  expect(simulation.received).toHaveLength(2);
  expect(simulation.received[0]?.body).toBe(simulation.received[1]?.body);
});

test('signatures are those of the Standard Webhooks specification', () => {
  const secret = newSecret();
  const body = JSON.stringify({ type: 'job.completed', data: { id: '1', text: 'ü' } });
  const headers = signedHeaders({ webhook: 'w', id: '1_completed', body }, secret, Date.now());
  const verifier = new Verifier(secret);
  expect(verifier.verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => verifier.verify(`${body} `, headers)).toThrow();
  expect(() => new Verifier(newSecret()).verify(body, headers)).toThrow();
});

describe('a delivery that the sweep cannot queue', () => {
  test('is failed after five attempts, and can be sent again by hand', async () => {
    const simulation = new Simulation();
    const [id = ''] = jobIds(1);
    await simulation.publish(id);
    const [delivery] = simulation.records.values();
    const ref = { webhook: delivery?.webhook ?? '', delivery: delivery?.id ?? '' };

    const outcomes: boolean[] = [];
    for (let round = 0; round < maxRecoveries; round++) outcomes.push(await simulation.deliveries.recoveryFailed(ref));

    expect(outcomes).toEqual([false, false, false, false, true]);
    const failed = simulation.records.get(ref.delivery);
    expect(failed).toMatchObject({ state: 'failed', attempts: [{ error: expect.stringContaining('queued') }] });
    expect(failed?.dueAt).toBeUndefined();
    expect(await simulation.deliveries.recoveryFailed(ref)).toBe(false);
    expect(await simulation.deliveries.replay(ref)).toMatchObject({ state: 'pending' });
  });
});
