import { keyed, type Route } from '../http/route.ts';

export const accountRoutes = {
  'account-me': {
    module: 'account/show-account',
    ...keyed('GET', '/v1/account/me', 'read', 'Account'),
    summary: 'Show the account and the caller',
    permissions: ['account:get', 'account:batchGet', 'membership:query', 'minutes:get'],
    response: 'Me',
  },
} as const satisfies Record<string, Route>;
