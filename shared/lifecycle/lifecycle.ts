import { create } from './create.ts';
import { deleteJob } from './delete.ts';
import type { LifecycleDependencies } from './dependencies.ts';
import { recover } from './recover.ts';
import { apply, commit, settle, settleAgain } from './settle.ts';
import { giveBack, start } from './start.ts';

/**
 * Returns the operations that move tasks and jobs through their states.
 *
 * Every change is one conditional write on one record. Its consequences follow from the records of the group alone. So a
 * redelivered message or the sweep can repeat any step without harm, and no step needs a note that it was done.
 *
 * | module | what happens |
 * | --- | --- |
 * | create | writes a job and its tasks, and queues the first tasks |
 * | start | claims a task for a worker, or returns it to its queue |
 * | settle | applies an event, and carries out the consequences of an end |
 * | release | queues a task whose inputs have completed |
 * | end-job | completes or ends the job after its last task |
 * | publish | publishes tasks and the outbox of their job |
 * | delete | removes a job with its tasks |
 * | recover | repeats for the sweep what was lost |
 *
 * What to do is decided by pure functions: `decide`, `decideJob`, and in this folder `ends.ts` and `plan-recovery.ts`.
 */
export function createLifecycle(deps: LifecycleDependencies) {
  const bind =
    <Args extends unknown[], R>(step: (deps: LifecycleDependencies, ...args: Args) => R) =>
    (...args: Args): R =>
      step(deps, ...args);
  return {
    create: bind(create),
    start: bind(start),
    giveBack: bind(giveBack),
    apply: bind(apply),
    commit: bind(commit),
    settle: bind(settle),
    settleAgain: bind(settleAgain),
    deleteJob: bind(deleteJob),
    recover: bind(recover),
  };
}
