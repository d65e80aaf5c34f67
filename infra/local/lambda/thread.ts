import { parentPort, workerData } from 'node:worker_threads';
import { serve } from './handler.ts';

const host = parentPort;
if (host === null) throw new Error('Expected to run in a worker thread but received none');

// Of use to the start of the thread only, and none of the variables that Lambda gives.
delete process.env.NODE_COMPILE_CACHE;

await serve(workerData, {
  send: (report, sent) => {
    host.postMessage(report);
    sent?.();
  },
  receive: (take) => host.on('message', take),
});
