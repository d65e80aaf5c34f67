import type { LocalAlarm } from '../template/model.ts';
import type { MetricStore, Summary } from './metrics.ts';

export type AlarmState = 'INSUFFICIENT_DATA' | 'OK' | 'ALARM';

/**
 * Returns the state of an alarm: it fires when each of its last periods breaches the threshold. Missing data is ignored
 * until a full evaluation window has passed.
 */
export function evaluate(
  alarm: LocalAlarm,
  store: MetricStore,
  { now, started, speed }: { now: number; started: number; speed: number },
): AlarmState {
  const periodMs = (alarm.periodSeconds * 1000) / speed;
  const breaching = Array.from({ length: alarm.evaluationPeriods }, (_, index) => {
    const to = now - index * periodMs;
    const summary = store.between(alarm.metric, to - periodMs, to);
    if (summary) return statisticOf(summary, alarm.statistic) >= alarm.threshold;
    return to - periodMs < started ? undefined : alarm.missing === 'breaching';
  });
  if (breaching.includes(false)) return 'OK';
  return breaching.includes(undefined) ? 'INSUFFICIENT_DATA' : 'ALARM';
}

function statisticOf({ sum, count, min, max }: Summary, statistic: LocalAlarm['statistic']): number {
  switch (statistic) {
    case 'Sum':
      return sum;
    case 'Average':
      return sum / count;
    case 'Minimum':
      return min;
    case 'Maximum':
      return max;
    case 'SampleCount':
      return count;
  }
}
