import type { Logger } from '@aws-lambda-powertools/logger';
import { deleteKeys } from '../../../shared/aws/objects.ts';
import { charge, endInstant, takeInstantPlace } from '../../../shared/aws/stores/minutes.ts';
import { defined } from '../../../shared/defined.ts';
import { postedKey } from '../../../shared/files/keys.ts';
import { outOfMinutes } from '../../../shared/lifecycle/ends.ts';
import { usageOf } from '../../../shared/tasks/charges.ts';
import { type EngineTime, endMeter, startMeter } from '../../../shared/tasks/meter.ts';
import type { JsonObject, Task } from '../../../shared/tasks/task.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { EngineError } from '../../engines/runtime/engine.ts';
import type { EngineRequest, EngineResponse } from '../../engines/runtime/protocol.ts';
import { NoEngineFree, TaskError } from '../../invocation/errors.ts';
import { invokeEngine } from '../../invocation/invoke-engine.ts';
import { keepOutputs, storedOf } from '../../invocation/keep-outputs.ts';
import { formatsOf, outputName, planRun, type RunPlan } from '../../invocation/plan-run.ts';
import { presignInput, presignOutput } from '../../invocation/presign.ts';
import { settings } from '../../wiring/settings.ts';
import { HttpError } from '../http/errors.ts';
import { failedRequest, outOfTime } from './failures.ts';
import { maxInstantBytes } from './read-request.ts';
import type { InputFile, InstantWork } from './work.ts';

/** Nothing is retried, so there is one attempt. */
const attempt = 1;
/** Time for copying a large output out of reach of its form. */
const copySeconds = 3;

/** The result: one file, in memory or under a key of the bucket. */
export interface InstantResult {
  file: { name: string; format: string; mediaType: string } & ({ bytes: Uint8Array } | { key: string });
  /** Whether the file is a ZIP of several. */
  isArchive: boolean;
  details: JsonObject;
  engineMs: number;
}

/** Performs instant work by its engine, within one of the account's places and its engine time. */
export function perform(
  { engine, task, files }: InstantWork,
  deadline: number,
  logger: Logger,
): Promise<InstantResult> {
  return withinPlace(task, deadline, logger, async (note) =>
    runEngine(engine, task, planRun(engine, task, task.payload, files), deadline, note),
  );
}

/** Does work within one of the account's places and its engine time. The work notes what it uses of that. */
export async function withinPlace<T>(
  task: Task,
  deadline: number,
  logger: Logger,
  work: (note: (used: EngineTime) => void) => Promise<T>,
): Promise<T> {
  const now = Date.now();
  const max = settings.instantAtOnce;
  const place = await takeInstantPlace(task.user, task.id, { max, now, until: deadline });
  if (!place)
    throw new HttpError(
      429,
      'too_many_requests',
      `This account already has ${max} instant conversions in progress, which is the maximum. Retry in a second, or create jobs, which wait in a queue.`,
      { headers: { 'Retry-After': '1' } },
    );
  const meter = startMeter(task.meter ?? {}, now, deadline - now);
  const started: Task = { ...task, status: 'processing', meter };
  if (!(await charge(task, started))) {
    await endInstant(place, undefined);
    throw failedRequest(outOfMinutes(now));
  }
  let used: EngineTime = { ms: 0 };
  try {
    return await work((noted) => {
      used = noted;
    });
  } catch (error) {
    throw asHttpError(error, logger);
  } finally {
    const ended: Task = {
      ...started,
      status: 'completed',
      endedAt: new Date().toISOString(),
      meter: endMeter(meter, used),
    };
    await charge(started, ended);
    await endInstant(place, usageOf(started, ended));
  }
}

/** Runs a plan by an engine, and notes the engine time before the result is checked. */
export async function runEngine(
  engine: string,
  task: Task,
  plan: RunPlan<InputFile>,
  deadline: number,
  note: (used: EngineTime) => void,
): Promise<InstantResult> {
  const { response, ms } = await lastResponse(engine, await requestOf(task, plan, deadline), deadline);
  const chosen = plan.picture && response.type === 'done' ? response.outputs[0]?.format : undefined;
  note({ ms, formats: formatsOf({ ...plan, ...defined({ outputFormat: chosen }) }) });
  return resultOf(task, plan, response);
}

async function requestOf(task: Task, { files, ...plan }: RunPlan<InputFile>, deadline: number): Promise<EngineRequest> {
  return {
    taskId: task.id,
    attempt,
    tenant: task.user,
    ...plan,
    inputs: await Promise.all(
      files.map(async ({ key, name, format, size, bytes }) => ({
        ...(bytes ? { content: Buffer.from(bytes).toString('base64') } : { url: await presignInput(key, deadline) }),
        name,
        format: catalogue.canonical(format),
        size,
      })),
    ),
    output: await presignOutput(task.id, attempt, plan.maxOutputBytes, deadline),
    inlineBytes: maxInstantBytes,
    ...(plan.picture ? {} : { archive: archiveName(task, files) }),
    deadline,
  };
}

function archiveName({ payload: { filename } }: Task, [first]: InputFile[]): string {
  return outputName(first?.name ?? 'files', 'zip', filename);
}

type LastResponse = Exclude<EngineResponse, { type: 'isolation' | 'progress' }>;

/** Invokes an engine and returns its last response, and the engine time to charge. Throws when the time is up. */
async function lastResponse(
  engine: string,
  request: EngineRequest,
  deadline: number,
): Promise<{ response: LastResponse; ms: number }> {
  const signal = AbortSignal.timeout(Math.max(0, deadline - Date.now()));
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(outOfTime()), { once: true });
  });
  const last = async () => {
    for await (const response of invokeEngine(engine, request, signal))
      if (response.type !== 'isolation' && response.type !== 'progress')
        return { response, ms: 'engineMs' in response ? response.engineMs : 0 };
    throw new Error('The engine ended its response without a result.');
  };
  return await Promise.race([last(), late]);
}

async function resultOf(task: Task, plan: RunPlan, response: LastResponse): Promise<InstantResult> {
  if (response.type === 'refused') throw new EngineError(response.msg, { detail: response.detail });
  if (response.type === 'broken') throw new Error(`The engine broke off: ${response.message}`);
  const { outputs, details = {}, engineMs } = response;
  const [output] = outputs;
  if (!output) throw new Error('The engine returned no output.');
  const mediaType = catalogue.mediaType(output.format);
  const name = outputName(output.name, output.format, task.payload.filename);
  const { format } = output;
  const facts = { isArchive: format !== plan.outputFormat, details, engineMs };
  if ('content' in output)
    return { file: { name, format, mediaType, bytes: Buffer.from(output.content, 'base64') }, ...facts };
  const signal = AbortSignal.timeout(copySeconds * 1000);
  const [stored] = await keepOutputs({ task, attempt, signal }, storedOf(outputs), plan.maxOutputBytes);
  if (!stored) throw new Error('The engine stored no output.');
  await deleteKeys([postedKey(task.id, attempt, 0)]);
  return { file: { name, format, mediaType, key: stored.key }, ...facts };
}

function asHttpError(error: unknown, logger: Logger): unknown {
  if (error instanceof TaskError) return failedRequest(error.failure, error);
  if (error instanceof EngineError) {
    if (error.detail) logger.info('the engine refused the file', { detail: error.detail.slice(-4_000) });
    return failedRequest({ errorCode: 'processing_failed', msg: error.message }, error);
  }
  if (error instanceof NoEngineFree)
    return new HttpError(503, 'unavailable', 'All engines are busy. Retry in a few seconds, or create a job.', {
      headers: { 'Retry-After': '3' },
      cause: error,
    });
  return error;
}
