import type { Random } from '../faults/random.ts';

const rate = 0.1;

type Input = Record<string, unknown>;

/** The part of a batch that is processed, and the rest in the form of the response. */
export interface SplitBatch {
  /** Undefined if nothing is left to process. */
  processed: Input | undefined;
  unprocessed: Record<string, unknown>;
}

/** Splits the entries of a BatchWriteItem or BatchGetItem. */
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
 * Returns a function that chooses the unprocessed entries of a batch, never all of them.
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
