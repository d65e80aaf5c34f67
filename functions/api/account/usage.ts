import { usageBetween } from '../../../shared/aws/minutes.ts';
import { endpoint } from '../http/endpoint.ts';
import { invalidFields } from '../http/errors.ts';
import { routes } from '../routes.ts';
import { presentMonth } from './month-of-minutes.ts';
import { presentDay, presentSum } from './usage-view.ts';

const dayMs = 86_400_000;
const maxDays = 366;

export const handler = endpoint(routes['account-usage'], async ({ account, query }) => {
  const today = new Date().toISOString().slice(0, 10);
  const { from = `${today.slice(0, 7)}-01`, to = today } = query;
  const days = (Date.parse(to) - Date.parse(from)) / dayMs;
  if (days < 0) throw invalidFields({ to: [`Expected a day that is not before ${from} but received ${to}.`] });
  if (days >= maxDays) throw invalidFields({ from: [`Expected a period of at most ${maxDays} days.`] });
  const [usage, month] = await Promise.all([usageBetween(account.user, from, to), presentMonth(account.user)]);
  return {
    body: {
      from,
      to,
      ...presentSum(usage),
      days: usage.map(presentDay),
      month,
    },
  };
});
