import { type DayOfUsage, usageBetween } from '../../../../shared/aws/stores/minutes.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';
import { endpoint } from '../../http/endpoint.ts';
import { invalidFields } from '../../http/errors.ts';
import { routes } from '../../routes.ts';
import { presentMonth } from './present-month.ts';

export const handler = endpoint(routes['account-usage'], async ({ account, query }) => {
  const today = new Date().toISOString().slice(0, 10);
  const { from = `${today.slice(0, 7)}-01`, to = today } = query;
  // ISO dates sort by time. The error names a field that is in the request.
  if (to < from) {
    const [field, problem] =
      query.to === undefined
        ? ['from', `Expected a day no later than ${to} but received ${from}.`]
        : ['to', `Expected a day no earlier than ${from} but received ${to}.`];
    throw invalidFields({ [field]: [problem] }, 'conflicting_parameters');
  }
  const [usage, month] = await Promise.all([usageBetween(account.user, from, to), presentMonth(account.user)]);
  return { body: { from, to, ...presentSum(usage), days: usage.map(presentDay), month } };
});

function presentSum(days: DayOfUsage[]): JsonObject {
  return {
    conversionSeconds: days.reduce((sum, { ms }) => sum + ms, 0) / 1000,
    tasks: days.reduce((sum, { tasks }) => sum + tasks, 0),
  };
}

function presentDay(usage: DayOfUsage): JsonObject {
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
