import * as z from 'zod';
import type { Route } from '../http/route.ts';

/** A path on this host. A redirect to another host would make this service vouch for it. */
const OwnPath = () =>
  z
    .string()
    .max(2_000)
    .regex(
      /^\/(?:[\w.~!$&'()*+,;=:@%?#-][\w.~!$&'()*+,;=:@%/?#-]*)?$/,
      'Expected a path of this service, such as /docs.',
    );

export const signInRoutes = {
  'sign-in': {
    module: 'sign-in/begin',
    method: 'GET',
    path: '/auth/sign-in',
    summary: 'Start a sign-in: redirects to the issuer',
    tag: 'Sign-in',
    access: 'public',
    permissions: ['attempt:put', 'issuer:locate'],
    get query() {
      return z.object({ return_to: OwnPath().optional().describe('Page to return to. Defaults to /.') });
    },
    success: 302,
    errors: [503],
    json: false,
  },
  'sign-in-callback': {
    module: 'sign-in/callback',
    method: 'GET',
    path: '/auth/callback',
    summary: 'Complete a sign-in: the issuer redirects here',
    tag: 'Sign-in',
    access: 'public',
    permissions: [
      'attempt:delete',
      'issuer:locate',
      ...(['person:get', 'person:put', 'person:update'] as const),
      ...(['account:get', 'account:batchGet', 'account:put', 'account:update', 'account:delete'] as const),
      ...(['membership:put', 'membership:query'] as const),
      ...(['invitation:query', 'invitation:update', 'invitation:delete'] as const),
      'audit:put',
      'signIn:put',
    ],
    get query() {
      return z.object({
        code: z.string().optional().describe('Authorization code, exchanged for an ID token.'),
        state: z.string().optional().describe('Identifies the sign-in.'),
        iss: z.string().optional().describe('The issuer.'),
        error: z.string().optional().describe('Error code of the issuer.'),
        error_description: z.string().optional().describe('Error description of the issuer.'),
      });
    },
    success: 302,
    errors: [403, 503],
    refusals: ['unknown_sign_in'],
    json: false,
  },
  'sign-out': {
    module: 'sign-in/end',
    method: 'POST',
    path: '/auth/sign-out',
    summary: 'End the session of the cookie',
    tag: 'Sign-in',
    access: 'public',
    permissions: ['signIn:get', 'signIn:delete', 'issuer:locate'],
    success: 200,
    errors: [403],
    response: 'SignedOut',
  },
} as const satisfies Record<string, Route>;
