import type { LocalAlarm, LocalFunction, LocalHttpApi } from '../template/model.ts';
import { type AlarmState, evaluate } from './evaluate.ts';
import { MetricStore, readEmbedded } from './metrics.ts';

/** CloudWatch's metrics of a queue. */
export interface QueueFacts {
  name: string;
  visible: number;
  /** Age in seconds of the oldest message that was not deleted, received or not; 0 without any. */
  oldestSeconds: number;
}

export type InvocationOutcome = 'succeeded' | 'failed' | 'throttled';

export interface MonitoringOptions {
  alarms: LocalAlarm[];
  queues(): QueueFacts[];
  report(line: string): void;
  /**
   * How many times faster time passes for alarms: periods are shorter, and messages older, by this factor. Defaults to
   * 1; tests cannot wait for minutes.
   */
  speed?: number;
}

export interface Monitoring {
  /** Returns the state of each alarm by name. */
  states(): Record<string, AlarmState>;
  /** Reads the metrics in a line of a function's log. */
  readLog(fn: Pick<LocalFunction, 'name'>, line: string): void;
  countInvocation(fn: LocalFunction, outcome: InvocationOutcome): void;
  countResponse(api: LocalHttpApi, status: number): void;
  stop(): void;
}

const minuteMs = 60_000;
const resolutionMs = 5_000;

/** Evaluates alarms once a minute on the metrics that AWS would have. Prints each alarm that fires or clears. */
export function startMonitoring({ alarms, queues, report, speed = 1 }: MonitoringOptions): Monitoring {
  const longestMs = Math.max(0, ...alarms.map((alarm) => alarm.periodSeconds * alarm.evaluationPeriods * 1000));
  const store = new MetricStore(
    alarms.map((alarm) => alarm.metric),
    { resolutionMs: resolutionMs / speed, keptMs: (longestMs + minuteMs) / speed },
  );
  const states = new Map<LocalAlarm, AlarmState>(alarms.map((alarm) => [alarm, 'INSUFFICIENT_DATA']));
  const started = Date.now();
  const timer = setInterval(tick, minuteMs / speed).unref();

  const add = (namespace: string, name: string, dimensions: Record<string, string>, value: number) =>
    store.add({ namespace, name, dimensions, value }, Date.now());

  function tick(): void {
    for (const { name, visible, oldestSeconds } of queues()) {
      add('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName: name }, visible);
      add('AWS/SQS', 'ApproximateAgeOfOldestMessage', { QueueName: name }, oldestSeconds * speed);
    }
    const now = Date.now();
    store.prune(now);
    for (const alarm of alarms) {
      const state = evaluate(alarm, store, { now, started, speed });
      const before = states.get(alarm);
      states.set(alarm, state);
      if (state === 'ALARM' && before !== 'ALARM') report(`alarm: ${alarm.name} fires; see docs/runbook.md`);
      if (state === 'OK' && before === 'ALARM') report(`alarm: ${alarm.name} has cleared`);
    }
  }

  return {
    states: () => Object.fromEntries([...states].map(([alarm, state]) => [alarm.name, state])),
    readLog(fn, line) {
      try {
        for (const value of readEmbedded(line)) store.add(value, Date.now());
      } catch (error) {
        report(`${fn.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
    countInvocation(fn, outcome) {
      const throttles = outcome === 'throttled' ? 1 : 0;
      // CloudWatch has each metric per function and in total. A throttled invocation does not count as one.
      for (const dimensions of [{ FunctionName: fn.name }, {}]) {
        add('AWS/Lambda', 'Throttles', dimensions, throttles);
        if (throttles > 0) continue;
        add('AWS/Lambda', 'Invocations', dimensions, 1);
        add('AWS/Lambda', 'Errors', dimensions, outcome === 'failed' ? 1 : 0);
      }
    },
    countResponse({ apiId }, status) {
      const dimensions = { ApiId: apiId };
      add('AWS/ApiGateway', 'Count', dimensions, 1);
      add('AWS/ApiGateway', '4xx', dimensions, status >= 400 && status <= 499 ? 1 : 0);
      add('AWS/ApiGateway', '5xx', dimensions, status >= 500 ? 1 : 0);
    },
    stop: () => clearInterval(timer),
  };
}
