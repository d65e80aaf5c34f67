import { type Key, update } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';
import type { PlaceClaim, PlaceClaims } from './share-places.ts';

/** Each claim is an attribute with this prefix, so that one write renews it without a read. */
const prefix = 'claim#';
/** How long the item is kept after its last claim. */
const keptMs = 3_600_000;
const key: Key = { pk: `${partitions.split}places`, sk: 'claims' };

/** Writes a claim, removes others, and returns all claims as of that write. */
export async function writeClaim(
  name: string,
  claim: PlaceClaim | undefined,
  removed: string[],
  now: number,
): Promise<PlaceClaims> {
  const gone = [...removed, ...(claim ? [] : [name])];
  const removes = gone.map((each, index) => [`#gone${index}`, `${prefix}${each}`] as const);
  const item = await update(
    key,
    [
      `SET #ttl = :ttl${claim ? ', #claim = :claim' : ''}`,
      ...(removes.length > 0 ? [`REMOVE ${removes.map(([placeholder]) => placeholder).join(', ')}`] : []),
    ].join(' '),
    {
      names: { '#ttl': 'ttl', ...(claim ? { '#claim': `${prefix}${name}` } : {}), ...Object.fromEntries(removes) },
      values: { ':ttl': Math.ceil((now + keptMs) / 1000), ...(claim ? { ':claim': claim } : {}) },
      returns: 'ALL_NEW',
    },
  );
  return Object.fromEntries(
    Object.entries(item ?? {}).flatMap(([attribute, value]) =>
      attribute.startsWith(prefix) && isClaim(value) ? [[attribute.slice(prefix.length), value]] : [],
    ),
  );
}

function isClaim(value: unknown): value is PlaceClaim {
  return typeof value === 'object' && value !== null && 'until' in value && 'holds' in value;
}
