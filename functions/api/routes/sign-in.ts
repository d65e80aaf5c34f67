import * as z from 'zod';
import { open, type Route } from '../http/route.ts';

/** A path on this host. A redirect to another host would make this service vouch for it. */
const OwnPath = () =>
  z
    .string()
    .max(2_000)
    .regex(
      /^\/(?:[\w.~!$&'()*+,;=:@%?#-][\w.~!$&'()*+,;=:@%/?#-]*)?$/,
      'Expected a path of this service, such as /docs.',
    );

const errorPage = { title: 'Sign-in failed', link: { href: '/auth/sign-in', text: 'Sign in again' } };

export const signInRoutes = {
  'sign-in': {
    module: 'sign-in/begin',
    ...open('GET', '/auth/sign-in', 'Sign-in'),
    summary: 'Start a sign-in: redirects to the issuer',
    permissions: ['attempt:put', 'issuer:locate'],
    query: () => z.object({ return_to: OwnPath().optional().describe('Page to return to. Defaults to /.') }),
    success: 302,
    errors: [503],
    json: false,
    errorPage,
  },
  'sign-in-callback': {
    module: 'sign-in/callback',
    ...open('GET', '/auth/callback', 'Sign-in'),
    summary: 'Complete a sign-in: the issuer redirects here',
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
    query: () =>
      z.object({
        code: z.string().optional().describe('Authorization code, exchanged for an ID token.'),
        state: z.string().optional().describe('Identifies the sign-in.'),
        iss: z.string().optional().describe('The issuer.'),
        error: z.string().optional().describe('Error code of the issuer.'),
        error_description: z.string().optional().describe('Error description of the issuer.'),
      }),
    success: 302,
    errors: [403, 503],
    refusals: ['unknown_sign_in'],
    json: false,
    errorPage,
  },
  'sign-out': {
    module: 'sign-in/end',
    ...open('POST', '/auth/sign-out', 'Sign-in'),
    summary: 'End the session of the cookie',
    permissions: ['signIn:get', 'signIn:delete', 'issuer:locate'],
    errors: [403],
    response: 'SignedOut',
  },
} as const satisfies Record<string, Route>;
