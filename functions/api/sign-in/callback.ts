import { createPersonalAccount, roleIn, takeInvitations, updateProfile } from '../../../shared/aws/stores/accounts.ts';
import { createSession, findOrCreatePerson, sessionSeconds } from '../../../shared/aws/stores/people.ts';
import { required } from '../../../shared/settings.ts';
import { attemptCookie, readCookie, sessionCookie, writeCookie } from '../http/cookies.ts';
import { HttpError } from '../http/errors.ts';
import { publicEndpoint } from '../http/public-endpoint.ts';
import { routes } from '../routes.ts';
import { takeAttempt } from './attempts.ts';
import { checkDomain, exchangeCode } from './identity.ts';
import { findIssuer } from './issuer.ts';

export const handler = publicEndpoint(routes['sign-in-callback'], async ({ query, cookies }) => {
  const browser = readCookie(cookies, attemptCookie());
  const attempt = query.state && browser ? await takeAttempt(query.state, browser) : undefined;
  if (!attempt) throw unknownSignIn();
  const identity = await exchangeCode(await findIssuer(), query, attempt);
  checkDomain(identity);
  const { person, isChanged } = await findOrCreatePerson(identity);
  if (isChanged) await updateProfile(person);
  if (!(await roleIn(person.id, person.account))) await createPersonalAccount(person);
  await takeInvitations(person);
  const session = await createSession(person);
  return {
    headers: { Location: new URL(attempt.returnTo, required('LATHE_URL')).href },
    cookies: [writeCookie(sessionCookie(), session, sessionSeconds)],
  };
});

function unknownSignIn(): HttpError {
  const msg =
    'This sign-in was not started in this browser within the last ten minutes, or is already complete. Sign in again.';
  return new HttpError(400, 'bad_request', msg, { reason: 'unknown_sign_in' });
}
