import { timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type Caller, callerKnownMs, scopesOfRole } from '../../../shared/accounts/caller.ts';
import { roleIn } from '../../../shared/aws/stores/accounts.ts';
import { type Session, useSession } from '../../../shared/aws/stores/people.ts';
import { isId } from '../../../shared/ids.ts';
import { required } from '../../../shared/settings.ts';
import { readCookie, sessionCookie } from './cookies.ts';
import { badRequest, HttpError, unauthorized } from './errors.ts';
import { requireOwnOrigin } from './own-origin.ts';
import { remember } from './remember.ts';

const recent = { milliseconds: callerKnownMs, max: 1_000 };
const findSession = remember((id: string) => useSession(id), recent);
const findRole = remember(async (key: string) => {
  const [person = '', account = ''] = key.split(' ');
  return roleIn(person, account);
}, recent);

type Request = Pick<APIGatewayProxyEventV2, 'cookies' | 'headers' | 'requestContext'>;

/** Returns the caller of the session cookie, or undefined if there is none. Throws if the session is invalid. */
export async function callerOfSession({ cookies, headers, requestContext }: Request): Promise<Caller | undefined> {
  const id = readCookie(cookies, sessionCookie());
  if (id === undefined) return undefined;
  const session = await findSession(id);
  if (!session) throw unauthorized(`The session has ended. Sign in again at ${required('LATHE_URL')}/auth/sign-in.`);
  if (!['GET', 'HEAD'].includes(requestContext.http.method)) checkCsrf(headers, session);
  const { person, csrf } = session;
  const account = headers['lathe-account'] ?? session.account;
  return { user: account, scopes: scopesOfRole[await roleOf(session, account)], limits: {}, person, csrf };
}

/** Throws the 403 for a request that another site may have forged (CSRF). */
export function checkCsrf(headers: APIGatewayProxyEventV2['headers'], { csrf }: Pick<Session, 'csrf'>): void {
  requireOwnOrigin(headers);
  const given = headers['lathe-csrf'];
  if (given === undefined)
    throw forbidden(
      'State-changing requests with a session require the header Lathe-CSRF; GET /v1/account/me returns its value.',
    );
  if (!isEqual(given, csrf)) throw forbidden('The header Lathe-CSRF does not match the session.');
}

async function roleOf({ person, account: personal }: Session, account: string) {
  // Saves a read: people are always the owners of their personal accounts.
  if (account === personal) return 'owner';
  if (!isId(account)) throw badRequest('Expected the id of an account in the header Lathe-Account.');
  const role = await findRole(`${person} ${account}`);
  if (!role) throw new HttpError(403, 'insufficient_permission', `You are not a member of the account ${account}.`);
  return role;
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function forbidden(msg: string): HttpError {
  return new HttpError(403, 'forbidden', msg);
}
