import { endSession, readSession } from '../../../shared/aws/stores/people.ts';
import { readCookie, sessionCookie, writeCookie } from '../http/cookies.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { checkCsrf } from '../http/session.ts';
import { routes } from '../routes.ts';
import { findIssuer, signedOutUrl } from './issuer.ts';

export const handler = publicEndpoint(routes['sign-out'], async ({ cookies, headers, logger }) => {
  const id = readCookie(cookies, sessionCookie());
  const session = id === undefined ? undefined : await readSession(id);
  if (id !== undefined && session) {
    checkCsrf(headers, session);
    await endSession(id);
  }
  const url = await nextPage().catch((error) => {
    // The session has ended anyway, and the session at the issuer will expire.
    logger.warn('no sign-out at the issuer', { error });
    return signedOutUrl();
  });
  return {
    body: { url },
    cookies: [writeCookie(sessionCookie(), '', 0)],
  };
});

/** Returns the URL that ends the session at the issuer, or the signed-out page if the issuer has none. */
async function nextPage(): Promise<string> {
  const issuer = await findIssuer();
  if (issuer.serverMetadata().end_session_endpoint === undefined) return signedOutUrl();
  const client = await import('openid-client');
  return client.buildEndSessionUrl(issuer, {
    post_logout_redirect_uri: signedOutUrl(),
    // The parameter name of Cognito.
    logout_uri: signedOutUrl(),
  }).href;
}
