import * as z from 'zod';
import { Id } from '../http/fields.ts';
import { keyed, type Route } from '../http/route.ts';

export const tokenRoutes = {
  'account-token': {
    module: 'account/create-token',
    ...keyed('POST', '/v1/account/token', 'read', 'Real time'),
    summary: 'Create a short-lived token for WebSockets, for the account or for one job',
    permissions: ['group:get', 'token:put'],
    body: () =>
      z.object({
        job: Id.optional().describe('Limits the token to this job and its tasks.'),
        expires_in: z
          .int('Expected a number of seconds.')
          .min(10, 'Expected at least 10 seconds.')
          .max(86_400, 'Expected at most 86400 seconds.')
          .default(3_600)
          .describe('Lifetime of the token in seconds.'),
      }),
    success: 201,
    errors: [404],
    response: 'Token',
  },
} as const satisfies Record<string, Route>;
