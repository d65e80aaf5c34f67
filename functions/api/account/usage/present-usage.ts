import type { DayOfUsage } from '../../../../shared/aws/stores/minutes.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';

/** Presents the total usage of some days. */
export function presentSum(days: DayOfUsage[]): JsonObject {
  return {
    conversionSeconds: days.reduce((sum, { ms }) => sum + ms, 0) / 1000,
    tasks: days.reduce((sum, { tasks }) => sum + tasks, 0),
  };
}

/** Presents the usage of a day. */
export function presentDay(usage: DayOfUsage): JsonObject {
  return {
    date: usage.day,
    ...presentSum([usage]),
    operations: inSeconds(usage.operations),
    formats: Object.entries(usage.formats).map(([pair, { ms, tasks }]) => {
      const [input = '', output = ''] = pair.split('>');
      return { input_format: input, output_format: output, conversionSeconds: ms / 1000, tasks };
    }),
    keys: inSeconds(usage.keys),
  };
}

function inSeconds(amounts: Record<string, number>): JsonObject {
  return Object.fromEntries(Object.entries(amounts).map(([name, ms]) => [name, ms / 1000]));
}
