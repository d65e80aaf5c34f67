import type { Configuration, IDToken, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import type { Identity } from '../../../shared/aws/people.ts';
import { HttpError } from '../http/errors.ts';
import type { Attempt } from './attempts.ts';
import { callbackUrl, unavailable } from './issuer.ts';

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

const maxEmailLength = 254;
const maxNameLength = 200;

/**
 * Exchanges the code of a callback for an ID token and returns whom it names, or throws the 403: the signature must be the
 * issuer's, and the token one for this service, this sign-in and this time.
 */
export async function exchangeCode(
  issuer: Configuration,
  parameters: Record<string, string | undefined>,
  { verifier, nonce }: Pick<Attempt, 'verifier' | 'nonce'>,
): Promise<Identity> {
  const client = await import('openid-client');
  const url = new URL(callbackUrl());
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  try {
    const tokens = await client.authorizationCodeGrant(issuer, url, {
      pkceCodeVerifier: verifier,
      expectedNonce: nonce,
      // Whose it is was known before: the sign-in was found by it.
      expectedState: parameters.state ?? '',
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new Error('The issuer sent no ID token.');
    return identityOf(claims, await personalClaims(issuer, tokens, claims));
  } catch (cause) {
    if (cause instanceof HttpError) throw cause;
    if (cause instanceof client.AuthorizationResponseError)
      throw refused(`The issuer refused the sign-in (${cause.error}).`, cause);
    if (cause instanceof TypeError || (cause instanceof client.ClientError && cause.code === 'OAUTH_TIMEOUT'))
      throw unavailable(cause);
    throw refused('What the issuer sent does not prove who signs in. Sign in again.', cause);
  }
}

/** Throws the 403 for an address of a domain that the operator does not let in. */
export function checkDomain({ email }: Pick<Identity, 'email'>): void {
  const allowed = (process.env.LATHE_OIDC_EMAIL_DOMAINS ?? '')
    .split(',')
    .map((domain) => domain.trim().toLowerCase())
    .filter((domain) => domain !== '');
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (allowed.length > 0 && !allowed.includes(domain))
    throw refused(`Addresses of ${domain} may not sign in to this service.`);
}

/** Some issuers put the claims of scopes into ID tokens, some leave them to the UserInfo endpoint, as the standard has it. */
async function personalClaims(issuer: Configuration, { access_token: token }: Tokens, claims: IDToken) {
  if (claims.email !== undefined || issuer.serverMetadata().userinfo_endpoint === undefined) return claims;
  const client = await import('openid-client');
  return client.fetchUserInfo(issuer, token, claims.sub);
}

function identityOf({ iss, sub }: IDToken, { email, email_verified, name }: Record<string, unknown>): Identity {
  if (typeof email !== 'string' || email.length > maxEmailLength || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw refused('The issuer does not say which e-mail address you have.');
  // Whoever has an address has its invitations, so that the issuer's word for it is needed.
  if (email_verified !== true)
    throw refused('Your e-mail address is not verified. Verify it at the issuer and sign in again.');
  const called = typeof name === 'string' && name.trim() !== '' ? name : email;
  return { issuer: iss, subject: sub, email, name: called.slice(0, maxNameLength).toWellFormed() };
}

function refused(msg: string, cause?: unknown): HttpError {
  return new HttpError(403, 'sign_in_refused', msg, { cause });
}
