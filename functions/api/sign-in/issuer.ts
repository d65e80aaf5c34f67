import type { Configuration } from 'openid-client';
import { RecentValues } from '../../../shared/recent-values.ts';
import { required } from '../../../shared/settings.ts';
import { HttpError } from '../http/errors.ts';

/** What an issuer is asked about: enough to know who signs in, and which address invitations go to. */
export const scope = 'openid email profile';

/** How long what an issuer publishes about itself is used without reading it again. */
const known = new RecentValues<Configuration>({ milliseconds: 600_000, max: 1 });
const timeoutSeconds = 10;

/** Returns the page that issuers return to; it must be registered with them. */
export function callbackUrl(): string {
  return `${required('LATHE_URL')}/auth/callback`;
}

/** Returns the page that issuers lead to after a sign-out; it must be registered with them. */
export function signedOutUrl(): string {
  return `${required('LATHE_URL')}/`;
}

/** Returns the issuer that people sign in at, as it describes itself, or throws the 503. */
export async function findIssuer(): Promise<Configuration> {
  const { issuer, clientId } = chosenIssuer();
  const found = known.get(issuer);
  if (found) return found;
  const client = await import('openid-client');
  const url = new URL(issuer);
  // The embedded provider of the local stack has no certificate; nothing else may go without TLS.
  const withoutTls = url.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  try {
    const configuration = await client.discovery(url, clientId, undefined, client.None(), {
      timeout: timeoutSeconds,
      execute: [client.enableNonRepudiationChecks, ...(withoutTls ? [client.allowInsecureRequests] : [])],
    });
    known.set(issuer, configuration);
    return configuration;
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** Builds the 503 for an issuer that cannot be asked. */
export function unavailable(cause: unknown): HttpError {
  return new HttpError(503, 'sign_in_unavailable', 'The issuer that people sign in at does not respond. Retry later.', {
    cause,
  });
}

/** Returns the issuer that the operator has chosen; the stack's own user pool by default. */
function chosenIssuer(): { issuer: string; clientId: string } {
  if (process.env.LATHE_OIDC_ISSUER)
    return { issuer: process.env.LATHE_OIDC_ISSUER, clientId: required('LATHE_OIDC_CLIENT_ID') };
  return { issuer: required('LATHE_POOL_ISSUER'), clientId: required('LATHE_POOL_CLIENT_ID') };
}
