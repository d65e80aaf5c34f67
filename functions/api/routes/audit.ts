import * as z from 'zod';
import { count } from '../http/fields.ts';
import type { Route } from '../http/route.ts';

export const auditRoutes = {
  'audit-list': {
    module: 'account/list-changes',
    method: 'GET',
    path: '/v1/account/audit',
    summary: 'List changes of keys, webhooks, members and roles in the last 90 days, newest first',
    tag: 'Account',
    access: 'key',
    scope: 'account',
    permissions: ['audit:query'],
    get query() {
      return z.object({
        before: z
          .string()
          .min(1)
          .max(100)
          .optional()
          .describe('Id of an entry. Lists older entries only. Pass `next` of a response to get the next page.'),
        limit: count(200, 'Expected an integer from 1 to 200.')
          .optional()
          .describe('Maximum number of entries. Defaults to 50.'),
      });
    },
    success: 200,
    response: 'AuditPage',
  },
} as const satisfies Record<string, Route>;
