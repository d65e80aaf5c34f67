/** Runs work on each item, some at a time, until all are done or the signal aborts; the first error ends it. */
export async function inParallel<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const queue = [...items].values();
  const run = async () => {
    // The workers share one iterator, so that each item is taken once.
    for (const item of queue) {
      signal.throwIfAborted();
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: limit }, run));
}
