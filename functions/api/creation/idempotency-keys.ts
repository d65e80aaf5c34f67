import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { fromItem, isConditionFailure, table, toItem } from '../../../shared/aws/table.ts';

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
  const { client, name } = table();
  const key = { pk: `once#${claim.user}#${claim.key}`, sk: 'once' };
  const put = (condition: string, values: Record<string, number> = {}) =>
    client.send(
      new PutItemCommand({
        TableName: name,
        Item: toItem({
          ...key,
          fingerprint: claim.fingerprint,
          resource: claim.resource,
          claimedAt: now,
          ttl: Math.ceil(now / 1000) + claim.seconds,
        }),
        ConditionExpression: condition,
        ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: toItem(values) } : {}),
      }),
    );
  try {
    await put('attribute_not_exists(pk)');
    return { outcome: 'claimed' };
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
  const { Item } = await client.send(new GetItemCommand({ TableName: name, Key: toItem(key), ConsistentRead: true }));
  const { fingerprint, resource, claimedAt, ttl } = Item ? fromItem(Item) : {};
  const expired = Number(ttl ?? 0) * 1000 <= now;
  if (!expired) {
    if (fingerprint !== claim.fingerprint) return { outcome: 'other-body' };
    if (await claim.exists(String(resource))) return { outcome: 'exists', resource: String(resource) };
    if (Number(claimedAt) + abandonedMs > now) return { outcome: 'under-way' };
  }
  try {
    await put('claimedAt = :claimedAt', { ':claimedAt': Number(claimedAt) });
    return { outcome: 'claimed' };
  } catch (error) {
    if (isConditionFailure(error)) return { outcome: 'under-way' };
    throw error;
  }
}
