import type { Caller } from '../../../shared/accounts/caller.ts';
import { get, itemIsAbsent, putIf } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';
import { sha256 } from '../../../shared/crypto.ts';
import { settings } from '../../wiring/settings.ts';
import { HttpError, invalidFields } from '../http/errors.ts';

/** A request that may have an Idempotency-Key. */
export interface KeyedRequest {
  account: Pick<Caller, 'user'>;
  headers: Record<string, string | undefined>;
  body: unknown;
}

const maxKeyLength = 255;

/** Functions time out before this, so a request that has not written its resource by then never will. */
const abandonedMs = 60_000;

export const replayedHeader = { 'Idempotent-Replayed': 'true' };

/**
 * Claims the Idempotency-Key of a request, if it has one, for the resource that it is about to create. Returns the resource
 * that an earlier request with the same key and body has created, or undefined if there is none. Throws the 409 if the body
 * differs or that request is in progress. The id is claimed before the resource is written, so that a retry can tell whether
 * an interrupted request has created it.
 */
export async function findEarlier<T>(
  { account, headers, body }: KeyedRequest,
  kind: string,
  id: string,
  read: (id: string) => Promise<T | undefined>,
): Promise<T | undefined> {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (key === '' || key.length > maxKeyLength)
    throw invalidFields({ 'Idempotency-Key': [`Expected a header of 1 to ${maxKeyLength} characters.`] });
  const itemKey = { pk: `${partitions.idempotency}${account.user}#${sha256(key)}`, sk: 'once' };
  const fingerprint = sha256(JSON.stringify([kind, body ?? {}]));
  const now = Date.now();
  const ttl = Math.ceil(now / 1000) + settings.recordSeconds;
  const item = { ...itemKey, fingerprint, resource: id, claimedAt: now, ttl };
  if (await putIf(item, itemIsAbsent)) return undefined;
  const earlier = (await get(itemKey)) ?? {};
  const claimedAt = Number(earlier.claimedAt);
  const isExpired = Number(earlier.ttl ?? 0) * 1000 <= now;
  if (!isExpired) {
    if (earlier.fingerprint !== fingerprint)
      throw new HttpError(
        409,
        'already_exists',
        'This Idempotency-Key was used with another request. Send a new key with a new request.',
      );
    const resource = await read(String(earlier.resource));
    if (resource !== undefined) return resource;
    if (claimedAt + abandonedMs > now) throw inProgress();
  }
  if (!(await putIf(item, 'claimedAt = :claimedAt', { ':claimedAt': claimedAt }))) throw inProgress();
  return undefined;
}

function inProgress(): HttpError {
  return new HttpError(409, 'conflict', 'A request with this Idempotency-Key is in progress. Retry in a moment.', {
    headers: { 'Retry-After': '1' },
  });
}
