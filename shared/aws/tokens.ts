import { createHash, randomBytes } from 'node:crypto';
import { accountOfKey } from './api-keys.ts';
import { get, type Key, put } from './table.ts';
import { partitions } from './table-schema.ts';

/** The holder of a token: an account, or one job of it. */
export interface TokenHolder {
  user: string;
  job?: string;
}

/** Issues a token with a lifetime in seconds. Only its hash is stored, so it cannot be shown again. */
export async function issueToken(holder: TokenHolder, seconds: number): Promise<{ token: string; expiresAt: string }> {
  const token = `lathet_${randomBytes(32).toString('base64url')}`;
  const expires = Date.now() + seconds * 1000;
  const expiresAt = new Date(expires).toISOString();
  await put({ ...keyOf(token), ...holder, expiresAt, ttl: Math.ceil(expires / 1000) });
  return { token, expiresAt };
}

/** Returns the holder of an API key or token, with or without `Bearer` before it. */
export async function holderOf(credential: string): Promise<TokenHolder | undefined> {
  const secret = credential.trim().replace(/^Bearer +/i, '');
  if (secret === '') return undefined;
  return secret.startsWith('lathet_') ? holderOfToken(secret) : accountOfKey(secret);
}

async function holderOfToken(token: string): Promise<TokenHolder | undefined> {
  // Consistent, because a page connects in the instant it was given its token.
  const { user, job, expiresAt } = (await get(keyOf(token))) ?? {};
  if (typeof user !== 'string' || Date.parse(String(expiresAt)) <= Date.now()) return undefined;
  return { user, ...(typeof job === 'string' ? { job } : {}) };
}

// A token has 256 random bits, so a plain hash cannot be searched and no slow one is needed.
function keyOf(token: string): Key {
  return { pk: `${partitions.token}${createHash('sha256').update(token).digest('hex')}`, sk: 'token' };
}
