import { createHash, randomBytes } from 'node:crypto';
import { get, type Key, toAttributes } from './table.ts';
import { partitions } from './table-schema.ts';

export interface Account {
  /** The user's ObjectID. */
  user: string;
}

/** Makes a new API key. Only its hash is ever stored, so it cannot be shown again. */
export function newApiKey(): string {
  return `lathe_${randomBytes(32).toString('base64url')}`;
}

/** Returns the account that a key belongs to. */
export async function accountOfKey(apiKey: string): Promise<Account | undefined> {
  const { user } = (await get(keyOf(apiKey), { consistent: false })) ?? {};
  return typeof user === 'string' ? { user } : undefined;
}

/** Returns the item that makes a key valid for a user; it holds the key's hash and nothing of the key. */
export function apiKeyItem(apiKey: string, account: Account) {
  return toAttributes({ ...keyOf(apiKey), user: account.user, createdAt: new Date().toISOString() });
}

// A key has 256 random bits, so a plain hash cannot be searched and no slow one is needed.
function keyOf(apiKey: string): Key {
  return { pk: `${partitions.apiKey}${createHash('sha256').update(apiKey).digest('hex')}`, sk: 'key' };
}
