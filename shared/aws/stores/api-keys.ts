import type { Actor } from '../../accounts/audit.ts';
import { scopes as allScopes, type Caller, type KeyLimits, type Scope } from '../../accounts/caller.ts';
import { randomSecret, sha256 } from '../../crypto.ts';
import { defined } from '../../defined.ts';
import { get, type Item, type Key, put, queryPartition, remove, storedIn } from '../table.ts';
import { partitions } from '../table-schema.ts';

/** An API key as it is stored: everything but the key itself. */
export interface ApiKey {
  id: string;
  user: string;
  name: string;
  /** Its first characters, for display. */
  start: string;
  hash: string;
  scopes: readonly Scope[];
  limits: KeyLimits;
  createdAt: string;
  createdBy: Actor;
  expiresAt?: string;
}

const startLength = 12;
/** How long an expired key is listed. */
const listedSeconds = 30 * 24 * 60 * 60;

/** Makes a new API key. Only its hash is ever stored, so it cannot be shown again. */
export function newApiKey(): string {
  return `lathe_${randomSecret()}`;
}

/** Returns the hash that a key is stored by. */
export function hashOfKey(apiKey: string): string {
  return sha256(apiKey);
}

/** Returns the stored form of a key. Its id defaults to the start of its hash. */
export function describeKey(
  apiKey: string,
  {
    id,
    scopes = allScopes,
    limits = {},
    createdAt = new Date().toISOString(),
    ...fields
  }: Pick<ApiKey, 'user' | 'name' | 'createdBy'> &
    Partial<Pick<ApiKey, 'id' | 'scopes' | 'limits' | 'createdAt' | 'expiresAt'>>,
): ApiKey {
  const hash = hashOfKey(apiKey);
  const start = apiKey.slice(0, startLength);
  return { id: id ?? hash.slice(0, 24), start, hash, scopes, limits, createdAt, ...fields };
}

/** Returns the items of a key: the one that lists it, then the one that makes it valid. */
export function itemsOfKey({ hash, ...key }: ApiKey): { listed: Key & Item; effective: Key & Item } {
  const expiry = key.expiresAt === undefined ? undefined : Math.ceil(Date.parse(key.expiresAt) / 1000);
  const { start: _start, ...known } = key;
  return {
    listed: { ...listedKey(key.user, key.id), ...key, hash, ttl: expiry && expiry + listedSeconds },
    effective: { ...effectiveKey(hash), ...known, ttl: expiry },
  };
}

/** Stores a key. After a crash it may be listed without being valid, and can then be deleted. */
export async function storeKey(key: ApiKey): Promise<void> {
  const { listed, effective } = itemsOfKey(key);
  await put(listed);
  await put(effective);
}

/** Returns the keys of an account, the oldest first. */
export async function listKeys(account: string): Promise<ApiKey[]> {
  return (await queryPartition(`${partitions.accountKey}${account}`)).map(storedIn<ApiKey>);
}

/** Returns a key of an account. */
export async function readKey(account: string, id: string): Promise<ApiKey | undefined> {
  const item = await get(listedKey(account, id));
  return item && storedIn<ApiKey>(item);
}

/** Deletes a key. It becomes invalid first, so that after a crash it is still listed and can be deleted again. */
export async function deleteKey({ user, id, hash }: ApiKey): Promise<void> {
  await remove(effectiveKey(hash));
  await remove(listedKey(user, id));
}

/** Returns the caller of a key, or undefined if it is unknown, deleted or expired. */
export function callerOfKey(apiKey: string): Promise<Caller | undefined> {
  return callerOfHash(hashOfKey(apiKey));
}

/** Returns the caller of the key with a hash. */
export async function callerOfHash(hash: string): Promise<Caller | undefined> {
  const key = effectiveKey(hash);
  // A miss is read again consistently: a key works as soon as its owner has received it.
  const item = (await get(key, { consistent: false })) ?? (await get(key));
  const caller = item && toCaller(item, hash);
  return caller && !isExpired(caller) ? caller : undefined;
}

/** Returns whether the key of a caller has expired since it was read. */
export function isExpired({ expiresAt }: Pick<Caller, 'expiresAt'>, now: number = Date.now()): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

function toCaller(item: Item, keyHash: string): Caller | undefined {
  const { user, id, name, scopes: stored, limits, expiresAt } = storedIn<ApiKey>(item);
  if (typeof user !== 'string') return undefined;
  const scopes = allScopes.filter((scope) => stored?.includes(scope));
  const expiry = expiresAt === undefined ? undefined : Date.parse(expiresAt);
  return defined({ user, key: id, keyHash, keyName: name, scopes, limits, expiresAt: expiry });
}

function listedKey(account: string, id: string): Key {
  return { pk: `${partitions.accountKey}${account}`, sk: id };
}

function effectiveKey(hash: string): Key {
  return { pk: `${partitions.apiKey}${hash}`, sk: 'key' };
}
