import { randomBytes } from 'node:crypto';
import type { Actor } from '../../../shared/accounts/audit.ts';
import { get, type Key, put, queryPartition, remove, storedIn } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';
import type { PictureKey } from './signature.ts';

/** A host, or all hosts of a domain with `*.`, that pictures may come from. */
export interface HostSource {
  host: string;
  /** Start of the path. */
  prefix?: string | undefined;
}

/** A bucket of S3, or of a compatible store, that pictures may come from. */
export interface BucketSource {
  bucket: string;
  region: string;
  access_key_id: string;
  secret_access_key: string;
  endpoint?: string | undefined;
  /** Start of the object's key. */
  prefix?: string | undefined;
}

/** Where pictures may come from, as everybody who may list the keys sees it. */
export type ListedSource = HostSource | Omit<BucketSource, 'secret_access_key'>;

/** A key for image URLs without its secrets. */
export interface ListedImageKey {
  id: string;
  user: string;
  name: string;
  sources: ListedSource[];
  /** Options by the name of the preset. */
  presets: Record<string, string>;
  presetsOnly: boolean;
  signatureSize: number;
  /** How long responses may be cached, in seconds. */
  maxAge: number;
  /** URL of the picture that the option `watermark` draws. */
  watermark?: string | undefined;
  createdAt: string;
  createdBy: Actor;
}

/** A key for image URLs. */
export interface ImageKey extends ListedImageKey, PictureKey {
  sources: (HostSource | BucketSource)[];
  signatureSize: number;
}

/** Makes the secrets of a new key. */
export function newImageSecrets(): Pick<ImageKey, 'key' | 'salt'> {
  return { key: randomBytes(32).toString('hex'), salt: randomBytes(32).toString('hex') };
}

/** Returns what of a key may be listed. */
export function listedOf({ key: _key, salt: _salt, sources, ...rest }: ImageKey): ListedImageKey {
  return { ...rest, sources: sources.map(withoutSecret) };
}

function withoutSecret(source: HostSource | BucketSource): ListedSource {
  if ('host' in source) return source;
  const { secret_access_key: _secret, ...listed } = source;
  return listed;
}

/** Stores a key. After a crash it may be listed without being valid, and can then be deleted. */
export async function storeImageKey(key: ImageKey): Promise<void> {
  await put({ ...listedKey(key.user, key.id), ...listedOf(key) });
  await put({ ...effectiveKey(key.id), ...key });
}

/** Returns the keys of an account, the oldest first. */
export async function listImageKeys(account: string): Promise<ListedImageKey[]> {
  return (await queryPartition(`${partitions.accountImageKey}${account}`)).map(storedIn<ListedImageKey>);
}

/** Returns a key of an account without its secrets. */
export async function readListedImageKey(account: string, id: string): Promise<ListedImageKey | undefined> {
  const item = await get(listedKey(account, id));
  return item && storedIn<ListedImageKey>(item);
}

/** Returns the valid key with an id. */
export async function readImageKey(id: string): Promise<ImageKey | undefined> {
  const key = effectiveKey(id);
  // A miss is read again consistently: a key works as soon as its owner has received it.
  const item = (await get(key, { consistent: false })) ?? (await get(key));
  return item && storedIn<ImageKey>(item);
}

/** Deletes a key. It becomes invalid first, so that after a crash it is still listed and can be deleted again. */
export async function deleteImageKey({ user, id }: Pick<ImageKey, 'user' | 'id'>): Promise<void> {
  await remove(effectiveKey(id));
  await remove(listedKey(user, id));
}

function listedKey(account: string, id: string): Key {
  return { pk: `${partitions.accountImageKey}${account}`, sk: id };
}

function effectiveKey(id: string): Key {
  return { pk: `${partitions.imageKey}${id}`, sk: 'key' };
}
