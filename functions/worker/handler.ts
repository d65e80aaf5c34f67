import { required } from '../../shared/settings.ts';
import { endJob, runEngine } from './engine-run.ts';
import { workerHandler } from './worker.ts';

const engine = required('LATHE_ENGINE');

/** The worker of an engine: it holds the permissions and invokes the engine, which has none. */
export const handler = workerHandler({
  engine,
  perform: (run) => runEngine(engine, run),
  ended: (id) => endJob(engine, id),
});
