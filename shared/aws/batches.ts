/** Splits a list, in its order, into batches of so many items and bytes at most; an item alone may have more bytes. */
export function batchesOf<T>(items: T[], sizeOf: (item: T) => number, mostItems: number, mostBytes: number): T[][] {
  const all: T[][] = [];
  let batch: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (batch.length === mostItems || (batch.length > 0 && bytes + size > mostBytes)) {
      all.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += size;
  }
  return batch.length > 0 ? [...all, batch] : all;
}
