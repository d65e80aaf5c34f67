import { putObject } from '../../shared/aws/objects.ts';
import { writeEngineState } from '../../shared/aws/stores/engine-state.ts';
import { withDeadline } from '../../shared/concurrency.ts';
import { defined } from '../../shared/defined.ts';
import { largeKey, postedKey, type Revocable, type RunName, revokedKey } from '../../shared/files/keys.ts';
import { maxFileBytesOf } from '../../shared/tasks/limits.ts';
import { catalogue } from '../catalogue/catalogues.ts';
import { type EngineRequest, type EngineResponse, maxPostBytes, type SourceRead } from '../engines/runtime/protocol.ts';
import { BrokenRun } from '../invocation/errors.ts';
import { invokeEngine } from '../invocation/invoke-engine.ts';
import { keepOutputs } from '../invocation/keep-outputs.ts';
import { LargeUpload } from '../invocation/large-upload.ts';
import { invalidResponse } from '../invocation/parse-response.ts';
import { formatsOf, type RunPlan } from '../invocation/plan-run.ts';
import { presignInput, presignOutput, presignRevoked } from '../invocation/presign.ts';
import { settings } from '../wiring/settings.ts';
import type { Run, RunResult } from './worker.ts';

/** How long an engine may take to notice that its run is revoked, and end it. */
export const endingMs = 3_000;

type Done = Extract<EngineResponse, { type: 'done' }>;
type LastResponse = Exclude<EngineResponse, { type: 'isolation' | 'progress' }>;

/** The prefix of the outputs of a run, the marker that revokes it, and the upload of an output that is too large for a form. */
export interface RunNames {
  output: RunName;
  revoked: Revocable;
  large?: LargeUpload | undefined;
}

/**
 * Performs a run with an upload in parts for an output of more than `formBytes`, if there is room for one. Defaults to what a form
 * takes. If more than that is expected, the engine may store the output while it writes it.
 */
export async function withLargeUpload<T>(
  { task, attempt, logger }: Run,
  plan: Pick<RunPlan, 'outputFormat' | 'maxOutputBytes'>,
  perform: (large: LargeUpload | undefined) => Promise<T>,
  formBytes = maxPostBytes,
  expectedBytes = 0,
): Promise<T> {
  // Smaller in tests.
  const overBytes = Number(process.env.LATHE_FORM_BYTES ?? formBytes);
  const largest = Math.min(plan.maxOutputBytes, maxFileBytesOf(task, settings));
  if (largest <= overBytes) return perform(undefined);
  const early = expectedBytes > overBytes ? expectedBytes : undefined;
  const large = await LargeUpload.start(largeKey(task.id, attempt), plan, overBytes, early);
  try {
    return await perform(large);
  } finally {
    await large.end().catch((error) => logger.warn('left to the sweep', { key: large.key, error }));
  }
}

/** Returns the request of a run, with signed URLs of its files. `read` says what is fetched of the first. */
export async function requestOf(
  { task, attempt, deadline }: Pick<Run, 'task' | 'attempt' | 'deadline'>,
  { files, ...plan }: RunPlan,
  names: RunNames = { output: attempt, revoked: attempt },
  read: SourceRead = {},
): Promise<EngineRequest<never>> {
  return {
    taskId: task.id,
    ...defined({ jobId: task.job }),
    attempt,
    tenant: task.user,
    ...plan,
    inputs: await Promise.all(
      files.map(async ({ key, name, format, size, role }, index) => ({
        url: await presignInput(key, deadline),
        ...(index === 0 ? read : {}),
        name,
        format: catalogue.canonical(format),
        size,
        ...defined({ role }),
      })),
    ),
    output: await presignOutput(task.id, names.output, plan.maxOutputBytes, deadline),
    revoked: await presignRevoked(task.id, names.revoked, deadline),
    ...defined({ large: await names.large?.sign(deadline) }),
    deadline,
  };
}

/** Returns the last response of an engine that ended its work or refused it. Throws a `BrokenRun` if it can be repeated. */
export async function lastResponse(
  engine: string,
  request: EngineRequest<never>,
  signal: AbortSignal,
  progress: (percent: number) => void,
): Promise<Exclude<LastResponse, { type: 'broken' }>> {
  let hasReported = false;
  for await (const response of invokeEngine(engine, request, signal)) {
    if (response.type === 'progress') progress(response.percent);
    else if (response.type === 'isolation') {
      // Each report that differs is a write to the table.
      if (hasReported) throw invalidResponse('Received a second report of barriers.');
      hasReported = true;
      await writeEngineState(engine, response.barriers);
    } else if (response.type === 'broken') throw new BrokenRun(`The engine broke off: ${response.message}`);
    else return response;
  }
  throw new BrokenRun('The engine ended its response without a result.');
}

/** Keeps the outputs of a whole run, and returns its result. */
export async function keepResult(
  run: Run,
  plan: RunPlan,
  { outputs, details, engineMs }: Done,
  large?: LargeUpload,
): Promise<RunResult> {
  const { task, attempt } = run;
  run.engine = { ms: engineMs, formats: formatsOf(plan) };
  return {
    files: await keepOutputs(run, outputs, plan.maxOutputBytes, { large }),
    ...defined({ details }),
    leftovers: outputs.map((_, index) => postedKey(task.id, attempt, index)),
  };
}

/**
 * Waits for engines unless the signal aborts. An aborted run is revoked, and its engines have stopped storing files when this
 * throws.
 */
export async function unlessAborted<T>(
  signal: AbortSignal,
  work: Promise<T>,
  revokeRun: () => Promise<unknown>,
): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted.promise]);
  } catch (error) {
    await revokeRun();
    await withDeadline(
      work.catch(() => {}),
      endingMs,
    );
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Revokes a run, so that its engine ends it if it is still running. */
export function revoke(taskId: string, run: Revocable): Promise<void> {
  return putObject(revokedKey(taskId, run), new Uint8Array(), 'application/octet-stream');
}
