import { required } from '../../shared/settings.ts';
import { endJob, runEngine } from './engine-run.ts';
import { workerHandler } from './worker.ts';

/** The worker of the engines of a queue: it holds the permissions and invokes the engines, which have none. */
export const handler = workerHandler({
  pool: required('LATHE_ENGINE'),
  perform: (run, engine) => runEngine(engine, run),
  ended: (id, engine) => endJob(engine, id),
});
