import { getHeapStatistics, type HeapInfo } from 'node:v8';
import { isMainThread, type Worker } from 'node:worker_threads';

/** The V8 heap of one thread, in bytes. */
export interface Heap {
  thread: string;
  used: number;
  /** Memory that the heap has taken from the system. */
  resident: number;
  /** Memory outside the heap that its objects hold. */
  external: number;
}

// Preloaded into a process, it writes `{ heaps: Heap[] }` as a line to stderr on SIGUSR2.
if (isMainThread) {
  const workers = new Set<Worker>();
  process.on('worker', (worker: Worker) => {
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
  });
  process.on('SIGUSR2', async () => {
    const heaps = [describe('main', getHeapStatistics())];
    for (const worker of workers) {
      const name = worker.threadName ?? '';
      // Rejects if the thread ends first.
      const info = await worker.getHeapStatistics().catch(() => undefined);
      if (info) heaps.push(describe(name, info));
    }
    process.stderr.write(`${JSON.stringify({ heaps })}\n`);
  });
}

function describe(thread: string, info: HeapInfo): Heap {
  return { thread, used: info.used_heap_size, resident: info.total_physical_size, external: info.external_memory };
}
