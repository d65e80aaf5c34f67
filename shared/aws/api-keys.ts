import { createHash, randomBytes } from 'node:crypto';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { fromItem, type Item, table, toItem } from './table.ts';
import { partitions } from './table-schema.ts';

export interface Account {
  /** The user's ObjectID. */
  user: string;
}

/** Makes a new API key. Only its hash is ever stored, so this is the one time it can be shown. */
export function newApiKey(): string {
  return `lathe_${randomBytes(32).toString('base64url')}`;
}

/** Finds whose key this is. */
export async function accountOfKey(apiKey: string): Promise<Account | undefined> {
  const { client, name } = table();
  const { Item } = await client.send(new GetItemCommand({ TableName: name, Key: toItem(keyOf(apiKey)) }));
  if (!Item) return undefined;
  const { user } = fromItem(Item);
  return typeof user === 'string' ? { user } : undefined;
}

/** Returns the item that makes a key valid for a user; it holds the key's hash and nothing of the key. */
export function apiKeyItem(apiKey: string, account: Account): Item {
  return toItem({ ...keyOf(apiKey), user: account.user, createdAt: new Date().toISOString() });
}

// A key has 256 random bits, so a plain hash cannot be searched and no slow one is needed.
function keyOf(apiKey: string): { pk: string; sk: string } {
  return { pk: `${partitions.apiKey}${createHash('sha256').update(apiKey).digest('hex')}`, sk: 'key' };
}
