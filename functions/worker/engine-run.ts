import { defined } from '../../shared/defined.ts';
import { totalBytes } from '../../shared/files/total-bytes.ts';
import { inputProblem, isIndexedVideo } from '../../shared/tasks/limits.ts';
import { filesOf } from '../../shared/tasks/task.ts';
import { catalogue } from '../catalogue/catalogues.ts';
import { EngineError } from '../engines/runtime/engine.ts';
import { Unfinished } from '../invocation/errors.ts';
import type { LargeUpload } from '../invocation/large-upload.ts';
import { formatsOf, planRun, type RunPlan } from '../invocation/plan-run.ts';
import { batch, hasBatch } from './batch/on-demand.ts';
import { needBatch, readBatch } from './batch/stored-job.ts';
import { keepResult, lastResponse, requestOf, revoke, unlessAborted, withLargeUpload } from './engine-response.ts';
import { learnSpeed, writeEstimate } from './learn-speed.ts';
import { runSplit, type WholeRun } from './split/split-run.ts';
import type { Run, RunResult } from './worker.ts';

/** Performs a run by its engine: presigns the URLs of its files, invokes the engine, and checks the outputs. */
export async function runEngine(engine: string, run: Run): Promise<RunResult> {
  const plan = planRun(engine, run.task, run.parameters, filesOf(run.task, run.inputs));
  const result = await (hasBatch(engine) ? runAnywhere : runHere)(engine, run, plan);
  // An estimate is not worth the repetition of a run.
  await learnSpeed(engine, run, plan, result).catch((error) =>
    run.logger.warn('the speed of a run could not be kept', { error }),
  );
  return result;
}

async function runHere(engine: string, run: Run, plan: RunPlan): Promise<RunResult> {
  const split = await runSplit(engine, run, plan);
  return split && 'files' in split ? split : runWhole(engine, run, plan, split);
}

/** Ends the job of a task that has ended, if it runs on AWS Batch. */
export async function endJob(engine: string, taskId: string): Promise<void> {
  if (hasBatch(engine)) await (await batch()).endBatch(taskId);
}

/** Performs a run on AWS Batch if it cannot be split and does not fit into one function. */
async function runAnywhere(engine: string, run: Run, plan: RunPlan): Promise<RunResult> {
  const { task, deadline } = run;
  const { runOnBatch } = await batch();
  const known = await readBatch(task.id);
  if (known) return runOnBatch(engine, run, plan, known);
  // The disk of the function has no room for the inputs and as much again.
  const isTooLarge = plan.maxOutputBytes < totalBytes(plan.files);
  const isIndexed = plan.files.every((file) => isIndexedVideo(catalogue, file));
  const split =
    isTooLarge && !isIndexed ? undefined : await runSplit(engine, run, plan).catch(unlessTooLarge(isTooLarge));
  if (split && 'files' in split) return split;
  const { details, estimatedSeconds = 0 } = split ?? {};
  if (isTooLarge || Date.now() + estimatedSeconds * 1_000 > deadline)
    return runOnBatch(engine, run, plan, await needBatch(task, details));
  try {
    return await runWhole(engine, run, plan, split);
  } catch (error) {
    const needsTime =
      (error instanceof EngineError && error.needsTime) || (run.signal.aborted && Date.now() >= deadline);
    if (!needsTime) throw error;
    await needBatch(task, details);
    throw new Unfinished();
  }
}

/** Handles the failure of a split run: one that read too much for the disk of a function goes to AWS Batch. */
function unlessTooLarge(isTooLarge: boolean): (error: unknown) => undefined {
  return (error) => {
    if (!isTooLarge || !(error instanceof EngineError)) throw error;
  };
}

async function runWhole(engine: string, run: Run, plan: RunPlan, whole?: WholeRun): Promise<RunResult> {
  const files = plan.files.map(({ size }) => ({ size }));
  const problem = inputProblem(catalogue, engine, plan.operation, files);
  if (problem !== undefined) throw new EngineError(problem);
  return withLargeUpload(run, plan, (large) => invokeWhole(engine, run, plan, whole, large));
}

async function invokeWhole(
  engine: string,
  run: Run,
  plan: RunPlan,
  whole: WholeRun | undefined,
  large: LargeUpload | undefined,
): Promise<RunResult> {
  const { task, attempt, signal } = run;
  const request = await requestOf(run, plan, { output: attempt, revoked: attempt, large });
  // The engine of a worker that died may still be running.
  if (attempt > 1) await revoke(task.id, attempt - 1);
  const response = await unlessAborted(signal, lastResponse(engine, request, signal, run.progress), () =>
    revoke(task.id, attempt),
  );
  run.engine = { ms: response.engineMs, formats: formatsOf(plan) };
  if (response.type === 'refused') {
    const { msg, detail, needsTime = false } = response;
    throw new EngineError(msg, { detail, needsTime });
  }
  if (whole) writeEstimate(whole.estimatedSeconds, response.engineMs / 1_000, engine);
  const details = whole || response.details ? { ...response.details, ...whole?.details } : undefined;
  return keepResult(run, plan, { ...response, ...defined({ details }) }, large);
}
