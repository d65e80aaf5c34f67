import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Caller } from '../../../shared/accounts/caller.ts';
import { callerOfKey, isExpired } from '../../../shared/aws/api-keys.ts';
import { unauthorized } from './errors.ts';
import { remember } from './remember.ts';
import { callerOfSession } from './session.ts';

/** A warm function reads a key once in this time, so one that is deleted stops working within it. */
export const keyKnownMs = 10_000;
const findCaller = remember(callerOfKey, { milliseconds: keyKnownMs, max: 1_000 });

/**
 * Returns who makes a request: by its API key or, where none is sent, by the session in its cookie. Throws the 401 that says
 * what is wrong.
 */
export async function authenticate(
  event: Pick<APIGatewayProxyEventV2, 'cookies' | 'headers' | 'requestContext'>,
): Promise<Caller> {
  const header = event.headers.authorization;
  if (!header) {
    const caller = await callerOfSession(event);
    if (caller) return caller;
    throw unauthorized('The access token is missing: send the header Authorization: Bearer <API_KEY>.');
  }
  const apiKey = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  const caller = apiKey ? await findCaller(apiKey) : undefined;
  if (!caller || isExpired(caller)) throw unauthorized('The access token is invalid.');
  return caller;
}
