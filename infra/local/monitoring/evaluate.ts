import type { LocalAlarm } from '../template/model.ts';
import type { MetricStore } from './metrics.ts';

export type AlarmState = 'INSUFFICIENT_DATA' | 'OK' | 'ALARM';

/**
 * Returns the state of an alarm: it fires when each of its last periods breaches the threshold. Before as much time has
 * passed as it looks back on, what is missing says nothing.
 */
export function evaluate(
  alarm: LocalAlarm,
  store: MetricStore,
  { now, started, speed }: { now: number; started: number; speed: number },
): AlarmState {
  const periodMs = (alarm.periodSeconds * 1000) / speed;
  const breaching = Array.from({ length: alarm.evaluationPeriods }, (_, index) => {
    const to = now - index * periodMs;
    const values = store.between(alarm.metric, to - periodMs, to);
    if (values.length > 0) return statisticOf(values, alarm.statistic) >= alarm.threshold;
    return to - periodMs < started ? undefined : alarm.missing === 'breaching';
  });
  if (breaching.includes(false)) return 'OK';
  return breaching.includes(undefined) ? 'INSUFFICIENT_DATA' : 'ALARM';
}

function statisticOf(values: number[], statistic: LocalAlarm['statistic']): number {
  const sum = values.reduce((total, value) => total + value, 0);
  switch (statistic) {
    case 'Sum':
      return sum;
    case 'Average':
      return sum / values.length;
    case 'Minimum':
      return values.reduce((least, value) => Math.min(least, value));
    case 'Maximum':
      return values.reduce((most, value) => Math.max(most, value));
    case 'SampleCount':
      return values.length;
  }
}
