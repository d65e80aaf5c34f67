import type { Caller } from '../../../shared/accounts/caller.ts';
import { minutesPerMonthOf } from '../../../shared/aws/stores/accounts.ts';
import type { TimeLimits } from '../../../shared/tasks/meter.ts';
import { settings } from '../../wiring/settings.ts';
import { remember } from '../http/remember.ts';

const minuteMs = 60_000;

/** Caches the allowances of accounts. A change takes effect within a minute. */
const findAllowance = remember(async (user) => (await minutesPerMonthOf(user)) ?? settings.minutesPerMonth, {
  milliseconds: 60_000,
  max: 1_000,
});

/** Returns the monthly allowance of an account in minutes; undefined if not limited. */
export async function allowanceOf(user: string): Promise<number | undefined> {
  return (await findAllowance(user)) || undefined;
}

/** Returns the engine time limits of tasks that a caller creates. */
export async function timeLimitsOf({ user, limits }: Pick<Caller, 'user' | 'limits'>): Promise<TimeLimits> {
  const minutes = {
    account: await allowanceOf(user),
    key: limits.minutesPerMonth,
    task: limits.minutesPerTask,
  };
  return Object.fromEntries(
    Object.entries(minutes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value * minuteMs]])),
  );
}
