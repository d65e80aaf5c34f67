import { EngineError } from '../engine.ts';
import { type Run, type RunResult, workerHandler } from '../worker.ts';
import { exportUrl } from './export-url.ts';

/** Operations that move files without changing them; each loads the library of its protocol only when it is asked for. */
const transfers = new Map<string, (run: Run) => Promise<RunResult>>([['export/url', exportUrl]]);

export const handler = workerHandler({
  engine: 'transfer',
  perform: (run) => {
    const transfer = transfers.get(run.task.operation);
    if (!transfer) throw new EngineError(`${run.task.operation} is not available on this instance yet.`);
    return transfer(run);
  },
});
