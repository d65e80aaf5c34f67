import type { Random } from '../faults/random.ts';

const rate = 0.1;

type Input = Record<string, unknown>;

/** A request for a batch, as far as it is carried out, and the rest of it in the form of the response. */
export interface SplitBatch {
  /** Undefined where nothing is left to carry out. */
  processed: Input | undefined;
  unprocessed: Record<string, unknown>;
}

/** Splits a BatchWriteItem or BatchGetItem by its entries. */
export function splitBatch(input: Input, isUnprocessed: (table: string, entry: unknown) => boolean): SplitBatch {
  const processed: Record<string, unknown> = {};
  const unprocessed: Record<string, unknown> = {};
  for (const [table, request] of Object.entries(Object(input.RequestItems))) {
    const entries: unknown[] = Array.isArray(request) ? request : Object(request).Keys;
    const withEntries = (some: unknown[]) => (Array.isArray(request) ? some : { ...Object(request), Keys: some });
    const [left, taken] = [[] as unknown[], [] as unknown[]];
    for (const entry of entries) (isUnprocessed(table, entry) ? left : taken).push(entry);
    if (taken.length > 0) processed[table] = withEntries(taken);
    if (left.length > 0) unprocessed[table] = withEntries(left);
  }
  const isEmpty = Object.keys(processed).length === 0;
  return { processed: isEmpty ? undefined : { ...input, RequestItems: processed }, unprocessed };
}

/**
 * Returns a choice of entries that a batch leaves unprocessed, never all of them.
 * Imitates: "If any requested operations fail because the table's provisioned throughput is exceeded or an internal
 * processing failure occurs, the failed operations are returned in the UnprocessedItems response parameter"
 * (BatchWriteItem in the DynamoDB API reference; BatchGetItem has the same in UnprocessedKeys).
 */
export function chooseUnprocessed(random: Random): () => boolean {
  let isFirst = true;
  return () => {
    const chosen = !isFirst && random.chance(rate);
    isFirst = false;
    return chosen;
  };
}
