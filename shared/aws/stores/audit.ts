import { randomBytes } from 'node:crypto';
import type { AuditEntry } from '../../accounts/audit.ts';
import { type Item, type Key, put, query, storedIn } from '../table.ts';
import { partitions } from '../table-schema.ts';

const keptSeconds = 90 * 24 * 60 * 60;

/** Records a change before it takes effect, so that every change is logged. The change itself may still fail. */
export async function recordChange(account: string, change: Omit<AuditEntry, 'id' | 'at'>): Promise<void> {
  await put(auditItem(account, change));
}

/** Returns the item that records a change. */
export function auditItem(
  account: string,
  change: Omit<AuditEntry, 'id' | 'at'>,
  now: number = Date.now(),
): Key & Item {
  const at = new Date(now).toISOString();
  return {
    pk: partitionOf(account),
    sk: `${at}#${randomBytes(6).toString('hex')}`,
    at,
    ...change,
    ttl: Math.ceil(now / 1000) + keptSeconds,
  };
}

/** Returns the changes of an account, newest first, starting before the entry with that id. */
export async function listChanges(account: string, limit: number, before?: string): Promise<AuditEntry[]> {
  const items = await query({
    keys: before === undefined ? 'pk = :pk' : 'pk = :pk AND sk < :before',
    // DynamoDB deletes expired items up to some days late.
    filter: '#ttl > :now',
    names: { '#ttl': 'ttl' },
    values: {
      ':pk': partitionOf(account),
      ':now': Math.floor(Date.now() / 1000),
      ':before': before,
    },
    descending: true,
    limit,
  });
  return items.map(toEntry);
}

function toEntry(item: Item): AuditEntry {
  return { ...storedIn<Omit<AuditEntry, 'id'>>(item), id: String(item.sk) };
}

function partitionOf(account: string): string {
  return `${partitions.audit}${account}`;
}
