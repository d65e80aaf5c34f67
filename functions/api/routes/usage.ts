import * as z from 'zod';
import type { Route } from '../http/route.ts';

const Day = z.iso.date('Expected a day such as 2026-11-16.');

export const usageRoutes = {
  'account-usage': {
    module: 'account/usage/show-usage',
    method: 'GET',
    path: '/v1/account/usage',
    summary: 'Show the conversion time used, by day, operation, formats and API key',
    tag: 'Account',
    access: 'key',
    scope: 'read',
    permissions: ['usage:query', 'minutes:get', 'account:get'],
    get query() {
      return z.object({
        from: Day.optional().describe('First day. Defaults to the first of this month.'),
        to: Day.optional().describe('Last day. Defaults to today.'),
      });
    },
    refusals: ['conflicting_parameters'],
    success: 200,
    response: 'Usage',
  },
} as const satisfies Record<string, Route>;
