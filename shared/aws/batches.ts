/** Splits a list, in its order, into batches limited in items and bytes; a single item may have more bytes. */
export function batchesOf<T>(items: T[], sizeOf: (item: T) => number, maxItems: number, maxBytes: number): T[][] {
  const all: T[][] = [];
  let batch: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (batch.length === maxItems || (batch.length > 0 && bytes + size > maxBytes)) {
      all.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += size;
  }
  return batch.length > 0 ? [...all, batch] : all;
}

/** Splits a list, in its order, into chunks of a maximum size. */
export function chunksOf<T>(items: T[], size: number): T[][] {
  return batchesOf(items, () => 0, size, 0);
}
