import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { handler as uploaded } from './lifecycle/uploaded.ts';
import { performTransfer } from './transfers/handler.ts';
import { endJob, runEngine } from './worker/engine-run.ts';
import { workerHandler } from './worker/worker.ts';

const work = workerHandler({
  pool: 'every',
  perform: (run, engine) => (engine === 'transfer' ? performTransfer(run) : runEngine(engine, run)),
  ended: (id, engine) => endJob(engine, id),
});

/** The one worker of a small deployment: it performs the tasks of every engine, transfers, and imports posted files. */
export const handler = async (event: SQSEvent, context: Context) =>
  event.Records.every(isTask) ? work(event, context) : uploaded(event, context);

/** S3 sends notifications of posted files to the same queue. */
function isTask({ body }: SQSRecord): boolean {
  return 'taskId' in JSON.parse(body);
}
