import { randomSecret } from '../../../shared/crypto.ts';
import { attemptCookie, readCookie, writeCookie } from '../http/cookies.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { attemptSeconds, storeAttempt } from './attempts.ts';
import { callbackUrl, findIssuer, scope } from './issuer.ts';

export const handler = publicEndpoint(routes['sign-in'], async ({ query, cookies }) => {
  const issuer = await findIssuer();
  const client = await import('openid-client');
  // All tabs of a browser share it, so that each can complete its own sign-in.
  const browser = readCookie(cookies, attemptCookie()) ?? randomSecret();
  const verifier = client.randomPKCECodeVerifier();
  const nonce = client.randomNonce();
  const state = await storeAttempt({ browser, verifier, nonce, returnTo: query.return_to ?? '/' });
  const url = client.buildAuthorizationUrl(issuer, {
    redirect_uri: callbackUrl(),
    scope,
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  return {
    headers: { Location: url.href },
    cookies: [writeCookie(attemptCookie(), browser, attemptSeconds)],
  };
});
