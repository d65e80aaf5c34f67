import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type Caller, callerKnownMs } from '../../../shared/accounts/caller.ts';
import { callerOfKey, isExpired } from '../../../shared/aws/stores/api-keys.ts';
import { unauthorized } from './errors.ts';
import { remember } from './remember.ts';
import { callerOfSession } from './session.ts';

const findCaller = remember(callerOfKey, { milliseconds: callerKnownMs, max: 1_000 });

/** Returns the caller of a request, by its API key or else by its session cookie. Throws the 401 if both are missing or invalid. */
export async function authenticate(
  event: Pick<APIGatewayProxyEventV2, 'cookies' | 'headers' | 'requestContext'>,
): Promise<Caller> {
  const header = event.headers.authorization;
  if (!header) {
    const caller = await callerOfSession(event);
    if (caller) return caller;
    throw unauthorized('The access token is missing: send the header Authorization: Bearer <API_KEY>.');
  }
  const apiKey = bearerOf(header);
  if (!apiKey)
    throw unauthorized('Expected the header Authorization: Bearer <API_KEY> but received another form of it.');
  const caller = await findCaller(apiKey);
  if (!caller || isExpired(caller))
    throw unauthorized('The access token is invalid: no API key has this value, or it was deleted or has expired.');
  return caller;
}

/** Returns the API key in an Authorization header. */
export function bearerOf(header: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
}
