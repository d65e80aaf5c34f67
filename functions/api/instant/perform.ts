import type { Logger } from '@aws-lambda-powertools/logger';
import { deleteKeys } from '../../../shared/aws/objects.ts';
import { charge, endInstant, type InstantPlace, takeInstantPlace } from '../../../shared/aws/stores/minutes.ts';
import { defined } from '../../../shared/defined.ts';
import { postedKey } from '../../../shared/files/keys.ts';
import { maxInstantBytes } from '../../../shared/files/limits.ts';
import { newId } from '../../../shared/ids.ts';
import { outOfMinutes, outOfMinutesPerTask } from '../../../shared/lifecycle/ends.ts';
import { type UsageEntry, usageOf } from '../../../shared/tasks/charges.ts';
import { endMeter, startMeter } from '../../../shared/tasks/meter.ts';
import type { JsonObject, Task } from '../../../shared/tasks/task.ts';
import { catalogue } from '../../catalogue/catalogues.ts';
import { EngineError } from '../../engines/runtime/engine.ts';
import type { EngineRequest, EngineResponse } from '../../engines/runtime/protocol.ts';
import { redact, redactError } from '../../engines/runtime/redact.ts';
import { BrokenRun, NoEngineFree, TaskError } from '../../invocation/errors.ts';
import { invokeEngine } from '../../invocation/invoke-engine.ts';
import { keepOutputs } from '../../invocation/keep-outputs.ts';
import { formatsOf, outputName, planRun, type RunPlan } from '../../invocation/plan-run.ts';
import { presignInput, presignOutput } from '../../invocation/presign.ts';
import { settings } from '../../wiring/settings.ts';
import type { PreparedTasks } from '../creation/prepare-tasks.ts';
import { HttpError } from '../http/errors.ts';
import { isQuick, learn } from './estimate.ts';
import { broken, failedRequest, outOfTime } from './failures.ts';
import { attempt, fetchedFor, type InputFile, type InstantWork, workOf } from './work.ts';

/** Time for copying a large output out of reach of its form. */
const copySeconds = 3;

/** The result: one file, in memory or under a key of the bucket. */
export interface InstantResult {
  file: { name: string; format: string; mediaType: string } & ({ bytes: Uint8Array } | { key: string });
  /** Media type of the files in the file, if it is a ZIP of several. */
  archivedType?: string;
  details: JsonObject;
  engineMs: number;
}

/** Performs planned work within one of the account's places. Returns undefined if it has to become a job. */
export async function performNow(
  prepared: PreparedTasks,
  user: string,
  deadline: number,
  logger: Logger,
): Promise<InstantResult | undefined> {
  try {
    return await withinPlace(user, deadline, async (place) => {
      const work = await workOf(prepared, AbortSignal.timeout(Math.max(0, deadline - Date.now())));
      if (!isQuick(work, deadline - Date.now())) return undefined;
      const { engine, task, files } = work;
      const planned = () => planRun(engine, task, task.payload, files);
      const result = await perform(work, planned, { place, deadline, logger });
      learn(work, result.engineMs);
      return result;
    });
  } catch (error) {
    if (error instanceof NoEngineFree) return undefined;
    throw error;
  } finally {
    await deleteKeys(fetchedFor(prepared));
  }
}

/** A place with the engine time that was used in it. */
type UsedPlace = InstantPlace & { usage?: UsageEntry | undefined };

/**
 * Does work within one of the account's places. Files are fetched within it too, because a slow server occupies this function
 * like a slow engine.
 */
export async function withinPlace<T>(
  user: string,
  deadline: number,
  work: (place: UsedPlace) => Promise<T>,
): Promise<T> {
  const place = await takePlace(user, deadline);
  try {
    return await work(place);
  } finally {
    await endInstant(place, place.usage);
  }
}

async function takePlace(user: string, deadline: number): Promise<UsedPlace> {
  const max = settings.instantAtOnce;
  const place = await takeInstantPlace(user, newId(), { max, now: Date.now(), until: deadline });
  if (place) return place;
  throw new HttpError(
    429,
    'too_many_requests',
    `This account already has ${max} instant conversions in progress, which is the maximum. Retry in a second, or create jobs, which wait in a queue.`,
    { headers: { 'Retry-After': '1' } },
  );
}

/** Performs a plan by an engine. Errors are responses, and the log does not contain the secrets of the work. */
export async function perform(
  { engine, task, secrets }: Omit<InstantWork, 'files'>,
  planned: () => RunPlan<InputFile>,
  { place, deadline, logger }: { place: UsedPlace; deadline: number; logger: Logger },
): Promise<InstantResult> {
  try {
    const plan = planned();
    const run = async (end: number, late: HttpError) => lastResponse(engine, await requestOf(task, plan, end), late);
    return await resultOf(task, plan, await metered({ task, place, plan, deadline }, run));
  } catch (error) {
    throw asHttpError(error, secrets, logger);
  }
}

/** Runs an engine within the engine time that the account, the key and a task have left, and counts what it uses. */
async function metered(
  { task, place, plan, deadline }: { task: Task; place: UsedPlace; plan: RunPlan; deadline: number },
  run: (end: number, late: HttpError) => Promise<LastResponse>,
): Promise<LastResponse> {
  const now = Date.now();
  const limit = task.meter?.limits?.task ?? Number.POSITIVE_INFINITY;
  const end = Math.min(deadline, now + limit);
  const late = end < deadline ? failedRequest(outOfMinutesPerTask(limit)) : outOfTime();
  const meter = startMeter(task.meter ?? {}, now, end - now);
  const started: Task = { ...task, status: 'processing', meter };
  if (!(await charge(task, started))) throw failedRequest(outOfMinutes(now));
  let ms = 0;
  let { outputFormat } = plan;
  try {
    const response = await run(end, late);
    ms = 'engineMs' in response ? response.engineMs : 0;
    if (plan.picture && response.type === 'done') outputFormat = response.outputs[0]?.format ?? outputFormat;
    return response;
  } catch (error) {
    // As for tasks: without a report the whole run counts, unless the service itself ended it.
    if (error instanceof EngineError || (error === late && late.status !== 504)) ms = Date.now() - now;
    throw error;
  } finally {
    const endedAt = new Date().toISOString();
    const formats = formatsOf({ ...plan, outputFormat });
    const ended: Task = { ...started, status: 'completed', endedAt, meter: endMeter(meter, { ms, formats }) };
    place.usage = usageOf(started, ended);
    await charge(started, ended);
  }
}

async function requestOf(
  task: Task,
  { files, ...plan }: RunPlan<InputFile>,
  deadline: number,
): Promise<EngineRequest<Uint8Array>> {
  return {
    taskId: task.id,
    attempt,
    tenant: task.user,
    ...plan,
    inputs: await Promise.all(
      files.map(async ({ key, name, format, size, bytes, role }) => ({
        ...(bytes ? { content: bytes } : { url: await presignInput(key, deadline) }),
        name,
        format: catalogue.canonical(format),
        size,
        ...defined({ role }),
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

/** Invokes an engine and returns its last response. Leaves it and throws the given error at its deadline. */
async function lastResponse(
  engine: string,
  request: EngineRequest<Uint8Array>,
  late: HttpError,
): Promise<LastResponse> {
  const connection = new AbortController();
  const signal = AbortSignal.timeout(Math.max(0, request.deadline - Date.now()));
  const timeout = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(late), { once: true });
  });
  const last = async () => {
    for await (const response of invokeEngine(engine, request, signal, connection))
      if (response.type !== 'isolation' && response.type !== 'progress') return response;
    throw new BrokenRun('The engine ended its response without a result.');
  };
  try {
    return await Promise.race([last(), timeout]);
  } catch (error) {
    // An engine that does not end would occupy one of the connections of this environment.
    connection.abort();
    throw error;
  }
}

async function resultOf(task: Task, plan: RunPlan, response: LastResponse): Promise<InstantResult> {
  if (response.type === 'refused') throw new EngineError(response.msg, { detail: response.detail });
  if (response.type === 'broken') throw new BrokenRun(`The engine broke off: ${response.message}`);
  const { outputs, details = {}, engineMs } = response;
  const [output] = outputs;
  if (!output) throw new Error('The engine returned no output.');
  const mediaType = catalogue.mediaType(output.format);
  const name = outputName(output.name, output.format, task.payload.filename);
  const { format } = output;
  const isArchive = !plan.picture && format !== plan.outputFormat;
  const archive = isArchive ? { archivedType: catalogue.mediaType(plan.outputFormat) } : {};
  const facts = { ...archive, details, engineMs };
  if ('content' in output)
    return { file: { name, format, mediaType, bytes: Buffer.from(output.content, 'base64') }, ...facts };
  const signal = AbortSignal.timeout(copySeconds * 1000);
  try {
    const [stored] = await keepOutputs({ task, attempt, signal }, outputs, plan.maxOutputBytes);
    if (!stored) throw new Error('The engine stored no output.');
    return { file: { name, format, mediaType, key: stored.key }, ...facts };
  } catch (error) {
    throw signal.aborted ? outOfTime() : error;
  } finally {
    await deleteKeys([postedKey(task.id, attempt, 0)]);
  }
}

function asHttpError(error: unknown, secrets: string[], logger: Logger): unknown {
  if (error instanceof TaskError) return failedRequest(error.failure);
  if (error instanceof EngineError) {
    const detail = redact(error.detail, secrets).slice(-4_000);
    logger.info('the engine refused the file', { reason: redact(error.message, secrets), detail });
    return failedRequest({ errorCode: 'processing_failed', msg: error.message });
  }
  redactError(error, secrets);
  if (!(error instanceof BrokenRun)) return error;
  logger.error('the run broke off', { error });
  return failedRequest(broken);
}
