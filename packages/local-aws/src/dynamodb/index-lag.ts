import type { Random } from '../faults/random.ts';

/**
 * Returns the delay of an index in milliseconds, mostly a fraction of a second.
 * Imitates: "Global secondary indexes support eventually consistent reads only. … changes to the table data are
 * propagated to the global secondary indexes within a fraction of a second, under normal conditions. However, in some
 * unlikely failure scenarios, longer propagation delays might occur" (DynamoDB developer guide, "Data synchronization
 * between tables and global secondary indexes").
 */
export function indexDelay(random: Random): number {
  const kind = random.next();
  if (kind < 0.7) return random.between(0, 100);
  return kind < 0.95 ? random.between(100, 1_000) : random.between(1_000, 3_000);
}
