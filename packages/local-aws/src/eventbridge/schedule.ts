import { randomUUID } from 'node:crypto';
import type { LambdaRuntime } from '../lambda/runtime.ts';
import type { Schedule } from '../template/model.ts';

export interface ScheduleDependencies {
  runtime: LambdaRuntime;
  log: (line: string) => void;
  /** Overrides the interval in the template. */
  everySeconds?: number;
}

/** A longer timer would fire at once. */
const maxTimerMilliseconds = 2 ** 31 - 1;

/** Invokes a function at an interval. A run that exceeds the interval delays the next. */
export function startSchedule(
  schedule: Schedule,
  { runtime, log, everySeconds = schedule.everySeconds }: ScheduleDependencies,
): { stop(): void } {
  let stopped = false;
  const interval = Math.min(everySeconds * 1000, maxTimerMilliseconds);
  let timer = setTimeout(run, interval);

  async function run(): Promise<void> {
    const due = Date.now() + interval;
    try {
      await runtime.invoke(schedule.function, buildEvent(schedule));
    } catch (error) {
      if (!stopped) log(`${schedule.logicalId}: ${schedule.function.name} failed: ${String(error)}`);
    }
    if (!stopped) timer = setTimeout(run, Math.max(0, due - Date.now()));
  }

  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function buildEvent({ arn }: Schedule): unknown {
  const [, , , region, account] = arn.split(':');
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account,
    time: `${new Date().toISOString().slice(0, 19)}Z`,
    region,
    resources: [arn],
    detail: {},
  };
}
