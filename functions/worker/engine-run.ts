import { defined } from '../../shared/defined.ts';
import { inputProblem } from '../../shared/tasks/limits.ts';
import { catalogue } from '../catalogue/catalogues.ts';
import { EngineError } from '../engines/runtime/engine.ts';
import { formatsOf, planRun, type RunPlan } from '../invocation/plan-run.ts';
import { keepResult, lastResponse, requestOf, revoke, unlessAborted } from './engine-response.ts';
import { learnSpeed, writeEstimate } from './learn-speed.ts';
import { runSplit, type WholeRun } from './split/split-run.ts';
import type { Run, RunResult } from './worker.ts';

/** Performs a run by its engine: presigns the URLs of its files, invokes the engine, and checks the outputs. */
export async function runEngine(engine: string, run: Run): Promise<RunResult> {
  const plan = planRun(
    engine,
    run.task,
    run.parameters,
    run.inputs.flatMap((input) => input.files),
  );
  const split = await runSplit(engine, run, plan);
  const result = split && 'files' in split ? split : await runWhole(engine, run, plan, split);
  // An estimate is not worth the repetition of a run.
  await learnSpeed(engine, run, plan, result).catch((error) =>
    run.logger.warn('the speed of a run could not be kept', { error }),
  );
  return result;
}

async function runWhole(engine: string, run: Run, plan: RunPlan, whole?: WholeRun): Promise<RunResult> {
  const { task, attempt, signal } = run;
  const files = plan.files.map(({ size }) => ({ size }));
  const problem = inputProblem(catalogue, engine, plan.operation, files);
  if (problem !== undefined) throw new EngineError(problem);
  const request = await requestOf(run, plan);
  // The engine of a worker that died may still be running.
  if (attempt > 1) await revoke(task.id, attempt - 1);
  const response = await unlessAborted(signal, lastResponse(engine, request, signal, run.progress), () =>
    revoke(task.id, attempt),
  );
  run.engine = { ms: response.engineMs, formats: formatsOf(plan) };
  if (response.type === 'refused') throw new EngineError(response.msg, { detail: response.detail });
  if (whole) writeEstimate(whole.estimatedSeconds, response.engineMs / 1_000, engine);
  const details = whole || response.details ? { ...response.details, ...whole?.details } : undefined;
  return keepResult(run, plan, { ...response, ...defined({ details }) });
}
