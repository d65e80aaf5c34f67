import { type Account, accountOfKey } from '../../../shared/aws/api-keys.ts';
import { unauthorized } from './errors.ts';
import { remember } from './remember.ts';

/** A warm function reads a key once in this time, so one that is removed stops working within it. */
const findAccount = remember(accountOfKey, { milliseconds: 10_000, max: 1_000 });

/** Returns the account of a request's API key, or throws the 401 that says what is wrong. */
export async function authenticate(headers: Record<string, string | undefined>): Promise<Account> {
  const header = headers.authorization;
  if (!header) throw unauthorized('The access token is missing: send the header Authorization: Bearer <API_KEY>.');
  const apiKey = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  const account = apiKey ? await findAccount(apiKey) : undefined;
  if (!account) throw unauthorized('The access token is invalid.');
  return account;
}
