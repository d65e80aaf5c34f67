import * as z from 'zod';
import { count } from '../http/fields.ts';
import { keyed, type Route } from '../http/route.ts';

export const auditRoutes = {
  'audit-list': {
    module: 'account/list-changes',
    ...keyed('GET', '/v1/account/audit', 'account', 'Account'),
    summary: 'List changes of keys, webhooks, members and roles in the last 90 days, newest first',
    permissions: ['audit:query'],
    query: () =>
      z.object({
        before: z
          .string()
          .min(1)
          .max(100)
          .optional()
          .describe('Id of an entry. Lists older entries only. Pass `next` of a response to get the next page.'),
        limit: count(200, 'Expected an integer from 1 to 200.')
          .optional()
          .describe('Maximum number of entries. Defaults to 50.'),
      }),
    response: 'AuditPage',
  },
} as const satisfies Record<string, Route>;
