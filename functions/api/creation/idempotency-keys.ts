import { get, itemIsAbsent, putIf } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';

export interface KeyClaim {
  user: string;
  /** Digest of the client's key. */
  key: string;
  /** Digest of what the request asks for. */
  fingerprint: string;
  /** Id that the resource will have. */
  resource: string;
  seconds: number;
  exists(resource: string): Promise<boolean>;
}

export type ClaimOutcome =
  | { outcome: 'claimed' }
  | { outcome: 'exists'; resource: string }
  | { outcome: 'other-body' }
  | { outcome: 'under-way' };

/** A request that has not written its resource after this long has died: no function lives longer. */
const abandonedMs = 60_000;

/** Claims an idempotency key for a resource, or tells what it was used for before. */
export async function claimKey(claim: KeyClaim, now: number = Date.now()): Promise<ClaimOutcome> {
  const key = { pk: `${partitions.idempotency}${claim.user}#${claim.key}`, sk: 'once' };
  const item = {
    ...key,
    fingerprint: claim.fingerprint,
    resource: claim.resource,
    claimedAt: now,
    ttl: Math.ceil(now / 1000) + claim.seconds,
  };
  if (await putIf(item, itemIsAbsent)) return { outcome: 'claimed' };
  const { fingerprint, resource, claimedAt, ttl } = (await get(key)) ?? {};
  const expired = Number(ttl ?? 0) * 1000 <= now;
  if (!expired) {
    if (fingerprint !== claim.fingerprint) return { outcome: 'other-body' };
    if (await claim.exists(String(resource))) return { outcome: 'exists', resource: String(resource) };
    if (Number(claimedAt) + abandonedMs > now) return { outcome: 'under-way' };
  }
  const isOurs = await putIf(item, 'claimedAt = :claimedAt', { ':claimedAt': Number(claimedAt) });
  return { outcome: isOurs ? 'claimed' : 'under-way' };
}
