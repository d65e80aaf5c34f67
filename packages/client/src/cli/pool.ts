/** Runs work on items concurrently up to a limit; the first error or an abort stops it. */
export async function inParallel<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const queue = [...items].values();
  const run = async () => {
    // Shared by all workers, so that each item is taken once.
    for (const item of queue) {
      signal.throwIfAborted();
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: limit }, run));
}
