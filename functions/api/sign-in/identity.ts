import type { Configuration, IDToken, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import type { Identity } from '../../../shared/aws/stores/people.ts';
import { HttpError } from '../http/errors.ts';
import type { Attempt } from './attempts.ts';
import { callbackUrl, unavailable } from './issuer.ts';

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

const maxEmailLength = 254;
const maxNameLength = 200;

/**
 * Exchanges an authorization code for an ID token and returns the identity in it. Throws the 403 unless the token is signed by
 * the issuer, is valid now, and belongs to this service and this sign-in.
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
      // Already checked: the sign-in was found by its state.
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
    throw refused('The response of the issuer is not valid for this sign-in. Sign in again.', cause);
  }
}

/** Throws the 403 for an e-mail address of a domain that the operator does not allow. */
export function checkDomain({ email }: Pick<Identity, 'email'>): void {
  const allowed = (process.env.LATHE_OIDC_EMAIL_DOMAINS ?? '')
    .split(',')
    .map((domain) => domain.trim().toLowerCase())
    .filter((domain) => domain !== '');
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (allowed.length > 0 && !allowed.includes(domain))
    throw refused(`E-mail addresses of ${domain} are not allowed to sign in to this service.`);
}

/** Returns the claims about the person. Some issuers include them in ID tokens, others only return them from UserInfo. */
async function personalClaims(issuer: Configuration, { access_token: token }: Tokens, claims: IDToken) {
  if (claims.email !== undefined || issuer.serverMetadata().userinfo_endpoint === undefined) return claims;
  const client = await import('openid-client');
  return client.fetchUserInfo(issuer, token, claims.sub);
}

function identityOf({ iss, sub }: IDToken, { email, email_verified, name }: Record<string, unknown>): Identity {
  if (typeof email !== 'string' || email.length > maxEmailLength || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw refused('The issuer did not provide your e-mail address.');
  // The e-mail address gives access to the teams that invited it.
  if (email_verified !== true)
    throw refused('Your e-mail address is not verified. Verify it at the issuer and sign in again.');
  const called = typeof name === 'string' && name.trim() !== '' ? name : email;
  return { issuer: iss, subject: sub, email, name: called.slice(0, maxNameLength).toWellFormed() };
}

function refused(msg: string, cause?: unknown): HttpError {
  return new HttpError(403, 'sign_in_refused', msg, { cause });
}
