import { type Caller, callerKnownMs } from '../../accounts/caller.ts';
import { allowsOrigin } from '../../accounts/limits.ts';
import { randomSecret, sha256 } from '../../crypto.ts';
import { defined } from '../../defined.ts';
import { RecentValues } from '../../recent-values.ts';
import { get, type Key, put, storedIn } from '../table.ts';
import { partitions } from '../table-schema.ts';
import { roleIn } from './accounts.ts';
import { callerOfHash, callerOfKey, isExpired } from './api-keys.ts';

/** The holder of a token or connection: an account or one of its jobs, authorized by a key or a person. */
export interface TokenHolder {
  user: string;
  job?: string;
  /** The hash of the key it was made with. It is revoked with that key. */
  keyHash?: string;
  /** The person who made it. It ends with their membership. */
  person?: string;
}

const known = new RecentValues<Caller | 'invalid'>({ milliseconds: callerKnownMs, max: 1_000 });

/** Issues a token with a lifetime in seconds. Only its hash is stored, so it cannot be shown again. */
export async function issueToken(holder: TokenHolder, seconds: number): Promise<{ token: string; expiresAt: string }> {
  const token = `lathet_${randomSecret()}`;
  const expires = Date.now() + seconds * 1000;
  const expiresAt = new Date(expires).toISOString();
  await put({ ...keyOf(token), ...holder, expiresAt, ttl: Math.ceil(expires / 1000) });
  return { token, expiresAt };
}

/** Returns the holder of a credential, with or without `Bearer`, if it may read and its key allows the origin. */
export async function holderOf(credential: string, origin: string | undefined): Promise<TokenHolder | undefined> {
  const secret = credential.trim().replace(/^Bearer +/i, '');
  if (secret === '') return undefined;
  if (secret.startsWith('lathet_')) return holderOfToken(secret);
  const caller = await callerOfKey(secret);
  if (!caller?.scopes.includes('read') || !allowsOrigin(caller.limits, origin)) return undefined;
  const { user, keyHash } = caller;
  return defined({ user, keyHash });
}

/** Returns whether the key or membership behind a token or connection is still valid, as of at most ten seconds ago. */
export async function isStillValid({ user, keyHash, person }: TokenHolder): Promise<boolean> {
  if (keyHash !== undefined) {
    const caller = await remembered(keyHash, () => callerOfHash(keyHash));
    return caller !== 'invalid' && !isExpired(caller) && caller.scopes.includes('read');
  }
  if (person === undefined) return true;
  const asMember = async (): Promise<Caller | undefined> =>
    (await roleIn(person, user)) && { user, person, scopes: ['read'], limits: {} };
  return (await remembered(`${person} ${user}`, asMember)) !== 'invalid';
}

async function remembered(name: string, read: () => Promise<Caller | undefined>): Promise<Caller | 'invalid'> {
  const found = known.get(name);
  if (found !== undefined) return found;
  const value = (await read()) ?? 'invalid';
  known.set(name, value);
  return value;
}

async function holderOfToken(token: string): Promise<TokenHolder | undefined> {
  // Consistent, because a page connects as soon as it has its token.
  const item = await get(keyOf(token));
  if (typeof item?.user !== 'string' || Date.parse(String(item.expiresAt)) <= Date.now()) return undefined;
  const { expiresAt: _expiresAt, ...holder } = storedIn<TokenHolder & { expiresAt: string }>(item);
  return (await isStillValid(holder)) ? holder : undefined;
}

function keyOf(token: string): Key {
  return { pk: `${partitions.token}${sha256(token)}`, sk: 'token' };
}
