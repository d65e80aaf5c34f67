import type { Configuration } from 'openid-client';
import { RecentValues } from '../../../shared/recent-values.ts';
import { required } from '../../../shared/settings.ts';
import { HttpError } from '../http/errors.ts';

/** Requested scopes. Invitations are matched by e-mail address. */
export const scope = 'openid email profile';

/** Caches the metadata of the issuer. */
const known = new RecentValues<Configuration>({ milliseconds: 600_000, max: 1 });
const timeoutSeconds = 10;

/** Returns the redirect URL, which must be registered with the issuer. */
export function callbackUrl(): string {
  return `${required('LATHE_URL')}/auth/callback`;
}

/** Returns the redirect URL after a sign-out, which must be registered with the issuer. */
export function signedOutUrl(): string {
  return `${required('LATHE_URL')}/`;
}

/** Returns the configuration of the issuer, or throws the 503. */
export async function findIssuer(): Promise<Configuration> {
  const { issuer, clientId } = chosenIssuer();
  const found = known.get(issuer);
  if (found) return found;
  const client = await import('openid-client');
  const url = new URL(issuer);
  // Only the embedded provider of the local stack can be used without TLS.
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

/** Builds the 503 for an issuer that is unavailable. */
export function unavailable(cause: unknown): HttpError {
  return new HttpError(503, 'sign_in_unavailable', 'The sign-in issuer does not respond. Retry later.', {
    cause,
  });
}

/** Returns the issuer that the operator has configured. Defaults to the user pool of the stack. */
function chosenIssuer(): { issuer: string; clientId: string } {
  if (process.env.LATHE_OIDC_ISSUER)
    return { issuer: process.env.LATHE_OIDC_ISSUER, clientId: required('LATHE_OIDC_CLIENT_ID') };
  return { issuer: required('LATHE_POOL_ISSUER'), clientId: required('LATHE_POOL_CLIENT_ID') };
}
