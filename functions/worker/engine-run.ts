import { putObject } from '../../shared/aws/objects.ts';
import { writeEngineState } from '../../shared/aws/stores/engine-state.ts';
import { withDeadline } from '../../shared/concurrency.ts';
import { defined } from '../../shared/defined.ts';
import { postedKey, revokedKey } from '../../shared/files/keys.ts';
import { catalogue } from '../catalogue/catalogues.ts';
import { EngineError } from '../engines/runtime/engine.ts';
import type { EngineRequest, EngineResponse } from '../engines/runtime/protocol.ts';
import { invokeEngine } from '../invocation/invoke-engine.ts';
import { keepOutputs, storedOf } from '../invocation/keep-outputs.ts';
import { invalidResponse } from '../invocation/parse-response.ts';
import { formatsOf, planRun, type RunPlan } from '../invocation/plan-run.ts';
import { presignInput, presignOutput, presignRevoked } from '../invocation/presign.ts';
import type { Run, RunResult } from './worker.ts';

/** How long an engine may take to notice that its run is revoked, and end it. */
const endingMs = 3_000;

type LastResponse = Exclude<EngineResponse, { type: 'isolation' | 'progress' }>;

/** Performs a run by its engine: presigns the URLs of its files, invokes the engine, and checks the outputs. */
export async function runEngine(engine: string, run: Run): Promise<RunResult> {
  const { task, attempt } = run;
  const plan = planRun(
    engine,
    task,
    run.parameters,
    run.inputs.flatMap((input) => input.files),
  );
  const request = await requestOf(run, plan);
  // The engine of a worker that died may still be running.
  if (attempt > 1) await revoke(task.id, attempt - 1);
  const response = await responseOf(engine, request, run);
  if ('engineMs' in response) run.engine = { ms: response.engineMs, formats: formatsOf(plan) };
  switch (response.type) {
    case 'done':
      return {
        files: await keepOutputs(run, storedOf(response.outputs), plan.maxOutputBytes),
        ...defined({ details: response.details }),
        leftovers: response.outputs.map((_, index) => postedKey(task.id, attempt, index)),
      };
    case 'refused':
      throw new EngineError(response.msg, { detail: response.detail });
    case 'broken':
      throw new Error(`The engine broke off: ${response.message}`);
  }
}

/** Returns the last response of the engine. An aborted run is revoked, and its engine has stopped storing files on return. */
async function responseOf(engine: string, request: EngineRequest, run: Run): Promise<LastResponse> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(run.signal.reason);
  run.signal.addEventListener('abort', abort, { once: true });
  if (run.signal.aborted) abort();
  const last = lastResponse(engine, request, run);
  try {
    return await Promise.race([last, aborted.promise]);
  } catch (error) {
    await revoke(run.task.id, run.attempt);
    await withDeadline(
      last.catch(() => {}),
      endingMs,
    );
    throw error;
  } finally {
    run.signal.removeEventListener('abort', abort);
  }
}

async function lastResponse(engine: string, request: EngineRequest, run: Run): Promise<LastResponse> {
  let hasReported = false;
  for await (const response of invokeEngine(engine, request, run.signal)) {
    if (response.type === 'progress') run.progress(response.percent);
    else if (response.type === 'isolation') {
      // Each report that differs is a write to the table.
      if (hasReported) throw invalidResponse('Received a second report of barriers.');
      hasReported = true;
      await writeEngineState(engine, response.barriers);
    } else return response;
  }
  throw new Error('The engine ended its response without a result.');
}

/** Revokes a run, so that its engine ends it if it is still running. */
function revoke(taskId: string, attempt: number): Promise<void> {
  return putObject(revokedKey(taskId, attempt), new Uint8Array(), 'application/octet-stream');
}

async function requestOf({ task, attempt, deadline }: Run, { files, ...plan }: RunPlan): Promise<EngineRequest> {
  return {
    taskId: task.id,
    ...defined({ jobId: task.job }),
    attempt,
    tenant: task.user,
    ...plan,
    inputs: await Promise.all(
      files.map(async ({ key, name, format, size }) => ({
        url: await presignInput(key, deadline),
        name,
        format: catalogue.canonical(format),
        size,
      })),
    ),
    output: await presignOutput(task.id, attempt, plan.maxOutputBytes, deadline),
    revoked: await presignRevoked(task.id, attempt, deadline),
    deadline,
  };
}
