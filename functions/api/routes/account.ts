import type { Route } from '../http/route.ts';

export const accountRoutes = {
  'account-me': {
    module: 'account/show-account',
    method: 'GET',
    path: '/v1/account/me',
    summary: 'Show the account and the caller',
    tag: 'Account',
    access: 'key',
    scope: 'read',
    permissions: ['account:get', 'account:batchGet', 'membership:query', 'minutes:get'],
    success: 200,
    response: 'Me',
  },
} as const satisfies Record<string, Route>;
