import { FairQueue } from './queue.ts';

/** A kind of job: its share, the duration on its engine, and the maximum concurrency. */
export interface JobKind {
  name: string;
  engine: string;
  share: number;
  engineSeconds: number;
  maxConcurrency: number;
}

export interface Scenario {
  name: string;
  hours: number;
  jobsPerSecond: number;
  accounts: number;
  kinds: JobKind[];
  /** Concurrent executions of the account in the region. */
  regionConcurrency: number;
  /** Whether messages carry their account. */
  isFair?: boolean;
  /** Slows an engine by a factor between two hours of the day. */
  slowed?: { kind: string; factor: number; fromHour: number; toHour: number };
  /** Jobs that one account creates within a minute. */
  burst?: { kind: string; jobs: number; atHour: number };
  /** Minutes without new invocations, starting at an hour. */
  withoutLambda?: { atHour: number; minutes: number };
}

/** The result of a simulated day. */
export interface Outcome {
  created: number;
  completed: number;
  waiting: number;
  running: number;
  peakWaiting: number;
  peakRunning: number;
  /**
   * Seconds that tasks waited in their queues in the half hour after the event, or all day without one: for the account
   * with the burst, and for the others.
   */
  waits: { burst: Quantiles; others: Quantiles };
  /** Seconds until the last backlog was processed. */
  backlogSeconds: number;
}

export interface Quantiles {
  median: number;
  p99: number;
  max: number;
}

const burstAccount = 0;

/**
 * Simulates a scenario second by second. Jobs of one kind and second are equal, so that a day of 86 million takes
 * seconds.
 */
export function simulate(scenario: Scenario): Outcome {
  const seconds = Math.round(scenario.hours * 3_600);
  const queues = new Map(scenario.kinds.map((kind) => [kind.name, new FairQueue(scenario.isFair ?? true)]));
  const ends = new Map<number, Ending[]>();
  const hour = hourOfEvent(scenario);
  const eventAt = hour === undefined ? undefined : hour * 3_600;
  const waits = { burst: new Map<number, number>(), others: new Map<number, number>() };
  const outcome = { created: 0, completed: 0, peakWaiting: 0, peakRunning: 0, backlogSeconds: 0 };
  const sum = (read: (queue: FairQueue) => number) =>
    [...queues.values()].reduce((total, queue) => total + read(queue), 0);
  /** Concurrent invocations of a kind: tasks of less than a second share one. */
  const placesOf = (kind: JobKind, now: number) =>
    (queues.get(kind.name)?.running ?? 0) * Math.min(1, secondsOf(scenario, kind, now));
  const allPlaces = (now: number) => scenario.kinds.reduce((total, kind) => total + placesOf(kind, now), 0);
  for (let now = 0; now < seconds || sum(({ waiting, running }) => waiting + running) > 0; now++) {
    for (const { kind, account, tasks } of ends.get(now) ?? []) {
      queues.get(kind)?.done(account, tasks);
      outcome.completed += tasks;
    }
    ends.delete(now);
    for (const kind of scenario.kinds) {
      const queue = queues.get(kind.name);
      if (!queue) continue;
      if (now < seconds) outcome.created += arrive(scenario, kind, queue, now);
      if (isWithoutLambda(scenario, now)) continue;
      const free = Math.min(kind.maxConcurrency - placesOf(kind, now), scenario.regionConcurrency - allPlaces(now));
      const end = now + Math.max(1, Math.round(secondsOf(scenario, kind, now)));
      // Tasks shorter than a second: a place serves as many as fit into it.
      const fits = Math.max(1, 1 / secondsOf(scenario, kind, now));
      for (const { account, waitedSeconds, tasks } of queue.take(Math.floor(Math.max(0, free) * fits), now)) {
        hold(ends, end, { kind: kind.name, account, tasks });
        // A whole day would hide the half hour after the event.
        if (eventAt !== undefined && (now < eventAt || now > eventAt + 1_800)) continue;
        const isBurst = scenario.burst !== undefined && account === burstAccount;
        const seen = isBurst ? waits.burst : waits.others;
        seen.set(waitedSeconds, (seen.get(waitedSeconds) ?? 0) + tasks);
      }
      if (queue.waiting > kind.share * scenario.jobsPerSecond * 2) outcome.backlogSeconds += 1;
    }
    outcome.peakWaiting = Math.max(
      outcome.peakWaiting,
      sum(({ waiting }) => waiting),
    );
    outcome.peakRunning = Math.max(outcome.peakRunning, Math.ceil(allPlaces(now)));
  }
  return {
    ...outcome,
    waiting: sum(({ waiting }) => waiting),
    running: sum(({ running }) => running),
    waits: { burst: quantiles(waits.burst), others: quantiles(waits.others) },
  };
}

interface Ending {
  kind: string;
  account: number;
  tasks: number;
}

function hold(ends: Map<number, Ending[]>, end: number, ending: Ending): void {
  const same = ends.get(end);
  if (same) same.push(ending);
  else ends.set(end, [ending]);
}

function hourOfEvent({ slowed, burst, withoutLambda }: Scenario): number | undefined {
  return slowed?.fromHour ?? burst?.atHour ?? withoutLambda?.atHour;
}

/** Adds the arrivals of a second, distributed over the accounts in turn, and returns their number. */
function arrive(scenario: Scenario, kind: JobKind, queue: FairQueue, now: number): number {
  const rate = scenario.jobsPerSecond * kind.share;
  const jobs = Math.floor((now + 1) * rate) - Math.floor(now * rate);
  const each = Math.floor(jobs / scenario.accounts);
  const rest = jobs - each * scenario.accounts;
  for (let account = 0; account < scenario.accounts; account++) {
    const isExtra = (account + scenario.accounts - (now % scenario.accounts)) % scenario.accounts < rest;
    queue.add(account, now, each + (isExtra ? 1 : 0));
  }
  const { burst } = scenario;
  if (burst?.kind !== kind.name) return jobs;
  const minute = now - burst.atHour * 3_600;
  if (minute < 0 || minute >= 60) return jobs;
  const extra = Math.floor(((minute + 1) * burst.jobs) / 60) - Math.floor((minute * burst.jobs) / 60);
  queue.add(burstAccount, now, extra);
  return jobs + extra;
}

function secondsOf({ slowed }: Scenario, kind: JobKind, now: number): number {
  const isSlow = slowed?.kind === kind.name && now >= slowed.fromHour * 3_600 && now < slowed.toHour * 3_600;
  return kind.engineSeconds * (isSlow ? slowed.factor : 1);
}

function isWithoutLambda({ withoutLambda }: Scenario, now: number): boolean {
  if (!withoutLambda) return false;
  const from = withoutLambda.atHour * 3_600;
  return now >= from && now < from + withoutLambda.minutes * 60;
}

function quantiles(counts: Map<number, number>): Quantiles {
  const sorted = [...counts].sort(([left], [right]) => left - right);
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  const at = (share: number) => {
    let seen = 0;
    for (const [seconds, count] of sorted) {
      seen += count;
      if (seen >= all * share) return seconds;
    }
    return 0;
  };
  return { median: at(0.5), p99: at(0.99), max: sorted.at(-1)?.[0] ?? 0 };
}
