import * as z from 'zod';
import { keyed, type Route } from '../http/route.ts';

const Day = z.iso.date('Expected a day such as 2026-11-16.');

export const usageRoutes = {
  'account-usage': {
    module: 'account/usage/show-usage',
    ...keyed('GET', '/v1/account/usage', 'read', 'Account'),
    summary: 'Show the conversion time used, by day, operation, formats and API key',
    permissions: ['usage:query', 'minutes:get', 'account:get'],
    query: () =>
      z.object({
        from: Day.optional().describe('First day. Defaults to the first of this month.'),
        to: Day.optional().describe('Last day. Defaults to today.'),
      }),
    refusals: ['conflicting_parameters'],
    response: 'Usage',
  },
} as const satisfies Record<string, Route>;
