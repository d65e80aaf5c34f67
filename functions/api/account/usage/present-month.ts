import { takenIn } from '../../../../shared/aws/stores/minutes.ts';
import { monthOf } from '../../../../shared/tasks/meter.ts';
import { allowanceOf } from '../../creation/time-limits.ts';

/** Presents the monthly allowance of an account and the remaining minutes; null if not limited. */
export async function presentMonth(user: string) {
  const month = monthOf(Date.now());
  const [taken, allowance] = await Promise.all([takenIn(user, month), allowanceOf(user)]);
  return {
    month,
    allowanceMinutes: allowance ?? null,
    remainingMinutes: allowance === undefined ? null : Math.max(0, allowance - taken / 60_000),
  };
}
