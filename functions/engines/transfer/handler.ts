import { type Run, type RunResult, workerHandler } from '../worker.ts';
import { exportUrl } from './export-url.ts';

/** Operations that move files without changing them; each loads the library of its protocol only when it is asked for. */
const transfers = new Map<string, (run: Run) => Promise<RunResult>>([['export/url', exportUrl]]);

export const handler = workerHandler({
  engine: 'transfer',
  perform: (run) => {
    const transfer = transfers.get(run.task.operation);
    if (!transfer) throw new Error(`${run.task.operation} came to the queue of transfers.`);
    return transfer(run);
  },
});
