import { tmpdir } from 'node:os';
import { Worker } from 'node:worker_threads';
import { serve } from './handler.ts';
import { abandonSandbox } from './sandbox-processes.ts';

// Read before the handler's module can change the environment.
const folder = tmpdir();

process.once('disconnect', () => abandonSandbox(folder));

await serve(JSON.parse(process.argv[2] ?? '{}'), {
  send: (report, sent) => {
    process.send?.(report, undefined, undefined, () => sent?.());
  },
  receive: (take) => process.on('message', take),
});

// A handler that blocks the event loop never receives the disconnect.
new Worker(new URL('./lifeline.ts', import.meta.url), { workerData: folder, execArgv: [] }).unref();
