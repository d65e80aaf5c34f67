import { Logger } from '@aws-lambda-powertools/logger';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { deleteFiles, deleteKeys } from '../../shared/aws/objects.ts';
import { hideFor, queueUrlOf, type WorkMessage } from '../../shared/aws/queues.ts';
import { readSecrets } from '../../shared/aws/stores/secrets.ts';
import { defined } from '../../shared/defined.ts';
import { attemptPrefix, partsPrefix } from '../../shared/files/keys.ts';
import type { Group, Later } from '../../shared/lifecycle/dependencies.ts';
import { outOfMinutes, outOfMinutesPerTask } from '../../shared/lifecycle/ends.ts';
import { writeMetrics } from '../../shared/metrics.ts';
import { isProcessing } from '../../shared/operations/operations.ts';
import { required } from '../../shared/settings.ts';
import { resultFailure } from '../../shared/tasks/limits.ts';
import { returnDelaySeconds } from '../../shared/tasks/long-runs.ts';
import {
  type EngineTime,
  elapsed,
  extendedMeter,
  type Meter,
  reservationEnd,
  withUsed,
} from '../../shared/tasks/meter.ts';
import {
  hasEnded,
  type JsonObject,
  type StoredFile,
  type Task,
  type TaskFailure,
  type TaskParts,
} from '../../shared/tasks/task.ts';
import { heartbeatWindowMs } from '../../shared/tasks/transitions.ts';
import { EngineError } from '../engines/runtime/engine.ts';
import { redact, redactError, secretsIn } from '../engines/runtime/redact.ts';
import { NoEngineFree, TaskError, Unfinished } from '../invocation/errors.ts';
import { withSecrets } from '../invocation/plan-run.ts';
import { workerLifecycle as lifecycle } from '../wiring/lifecycle.ts';
import { LongRun } from './long-run.ts';
import { ProgressPace } from './progress-pace.ts';

/** A canceled task must end its program within two seconds, and this is the largest part of that time. */
const tickMs = 500;
const beatMs = heartbeatWindowMs / 3;
/** Longer than the window, so that the previous owner's heartbeat has always expired when a message is redelivered. */
const hiddenSeconds = heartbeatWindowMs / 1000 + 5;
/** How often a run asks for more engine time while its account has none. */
const extensionPauseMs = 1_000;
/** Time reserved to record the end of a task that timed out. */
const reserveMs = 10_000;

/** One run of a task by this worker. */
export interface Run {
  /** The task as last written by this run. */
  task: Task;
  /** The task's parameters with their secrets. */
  parameters: JsonObject;
  /** The values of those secrets, which must not be logged. */
  secrets: string[];
  attempt: number;
  inputs: Task[];
  /** Aborted when the task is canceled, deleted, taken over or out of time. */
  signal: AbortSignal;
  /** When it is out of time, in milliseconds since the epoch. */
  deadline: number;
  progress(percent: number, parts?: TaskParts): void;
  /** Returns the engine time used so far, if it is not the time that has passed. */
  usedMs?: () => number;
  /** Engine time to reserve, if the account's is limited. */
  wantedMs?: number;
  /** The engine time that the engine reported. Without a report the whole run counts. */
  engine?: EngineTime;
  logger: Logger;
}

export interface RunResult {
  files: StoredFile[];
  details?: JsonObject;
  /** Keys of objects that the run no longer needs. */
  leftovers?: string[];
}

/** The task no longer belongs to this worker: it was canceled, deleted or taken over. */
class TaskLost extends Error {
  override name = 'TaskLost';
  readonly isEnded: boolean;

  constructor(reason: string, isEnded: boolean) {
    super(reason);
    this.isEnded = isEnded;
  }
}

/** What a run last reported. */
interface Progress {
  percent?: number;
  parts?: TaskParts;
}

/** The account already has the maximum number of long runs. */
class Yielded extends Error {
  override name = 'Yielded';
}

class OutOfTime extends Error {
  override name = 'OutOfTime';

  constructor({ operation }: Task) {
    super(
      isProcessing(operation)
        ? 'The conversion exceeded the time limit of the engine. Split the file or choose faster options.'
        : 'The transfer exceeded the time limit of 15 minutes. Transfer smaller files, or use a faster server.',
    );
  }
}

const logger = new Logger({ serviceName: 'lathe' });

export interface Worker {
  /** Names what its accounts share: the workers of one engine, or of several that share a queue. */
  pool: string;
  perform(run: Run, engine: string): Promise<RunResult>;
  /** Ends what goes on for a task without a run. Called after the task has ended, perhaps more than once. */
  ended?(taskId: string, engine: string): Promise<void>;
}

/** Returns the handler of a worker's queue, which claims the task, sends heartbeats while it runs, and records its end. */
export function workerHandler(worker: Worker) {
  return async (event: SQSEvent, context: Context): Promise<void> => {
    for (const record of event.Records) await handle(worker, record, context);
  };
}

async function handle(worker: Worker, record: SQSRecord, context: Context): Promise<void> {
  const {
    taskId,
    near,
    user,
    queuedAt = Number(record.attributes.SentTimestamp),
    engine,
  }: WorkMessage = JSON.parse(record.body);
  const share = Number(required('LATHE_ACCOUNT_SHARE'));
  const account = user === undefined ? undefined : { user, engine: worker.pool };
  const queueUrl = queueUrlOf(engine);
  const hide = () => hideFor(queueUrl, record.receiptHandle, hiddenSeconds);
  /** Ends the work of the task once it has ended, and deletes its parts. Until then a later attempt goes on with them. */
  const discardWork = async () => {
    await worker.ended?.(taskId, engine);
    await discardParts(taskId);
  };
  // Shorter than the visibility timeout of the queue, so that another worker follows within a minute if this one dies.
  const [decision] = await Promise.all([lifecycle.start(taskId, { near, account, share }), hide()]);
  if (decision.outcome === 'postponed') await lifecycle.giveBack(engine, decision.task, later(queuedAt));
  if (!('group' in decision)) {
    // The worker may have died after it recorded the end, or the client may have ended the task after the worker died.
    if (decision.outcome === 'missing' || (decision.outcome === 'refused' && decision.reason === 'ended'))
      await discardWork();
    logger.info('nothing to do', { taskId, outcome: decision.outcome, invocationId: context.awsRequestId });
    return;
  }

  const { task, inputs, group } = decision;
  const { attempt } = task;
  const ids = { taskId, jobId: task.job, attempt, invocationId: context.awsRequestId };
  const measure = startMeasuring(engine, queuedAt, ids);
  const longRun = new LongRun(worker.pool, task, share);
  const controller = new AbortController();
  const deadline = Date.now() + Math.max(0, context.getRemainingTimeInMillis() - reserveMs);
  let reported: Progress = {};
  const secrets = task.hasSecrets ? await readSecrets(task) : {};
  const run: Run = {
    task,
    parameters: withSecrets(task.payload, secrets),
    secrets: secretsIn(secrets),
    attempt,
    inputs,
    signal: controller.signal,
    deadline,
    progress: (percent, parts) => {
      reported = { percent: Math.floor(Math.min(99, Math.max(0, percent))), ...defined({ parts }) };
    },
    logger: logger.createChild({ persistentLogAttributes: { ...ids, engine } }),
  };
  const stopHeartbeat = startHeartbeat(run, controller, longRun, hide, () => reported);
  const timers = [
    setTimeout(() => controller.abort(new OutOfTime(task)), deadline - Date.now()),
    ...limitTask(run, controller),
  ];
  try {
    const isKept = await complete(run, discardWork, await worker.perform(run, engine), group, stopHeartbeat);
    measure(isKept ? 'completed' : 'lost');
  } catch (error) {
    if ([controller.signal.reason, error].some(isReturn)) {
      await stopHeartbeat();
      await discard(run);
      const isGivenBack = await lifecycle.giveBack(engine, run.task, nextDelivery(error, queuedAt), attempt);
      measure(isGivenBack ? 'given back' : 'lost');
      return;
    }
    const failure = await recordFailure(run, discardWork, error);
    measure(failure ? 'failed' : 'lost', failure);
  } finally {
    for (const timer of timers) clearTimeout(timer);
    await stopHeartbeat();
    // If this fails, the run stops counting after a minute.
    await longRun.end(Date.now()).catch((error) => run.logger.warn('a long run could not be removed', { error }));
  }
}

/** Records the result of a run. Returns false if the run had lost its task. */
async function complete(
  run: Run,
  discardWork: () => Promise<void>,
  { leftovers = [], ...result }: RunResult,
  group: Group,
  stopHeartbeat: () => Promise<void>,
): Promise<boolean> {
  const { task, attempt } = run;
  const failure = resultFailure(result.files, result.details);
  if (failure) throw new TaskError(failure);
  await stopHeartbeat();
  if (attempt > 1) await discardEarlier(run);
  const completed = { type: 'completed', attempt, ...result, ...engineTime(run) } as const;
  const [{ outcome }] = await Promise.all([
    lifecycle.apply(task.id, completed, run.task, group),
    deleteKeys(leftovers).catch((error) => run.logger.warn('left to the sweep', { leftovers, error })),
  ]);
  if (outcome !== 'changed') await discard(run);
  else if (run.usedMs) await discardWork();
  return outcome === 'changed';
}

/** Returns whether a run ends without a result so that another one follows. */
function isReturn(error: unknown): boolean {
  return error instanceof Yielded || error instanceof NoEngineFree || error instanceof Unfinished;
}

/** Returns when the task of a run that ended with an error is delivered again. */
function nextDelivery(error: unknown, queuedAt: number): Later {
  if (!(error instanceof Unfinished)) return later(queuedAt);
  // A run that goes on has not waited in the queue since its first delivery.
  const { delaySeconds } = error;
  const now = Date.now();
  return delaySeconds === undefined ? later(now) : { delaySeconds, queuedAt: now, goesOn: true };
}

/** Returns when a task that has waited since a time is delivered again. */
function later(queuedAt: number): Later {
  return { delaySeconds: returnDelaySeconds(Date.now() - queuedAt), queuedAt };
}

/** Aborts a run at the engine time limit of a single task. */
function limitTask(run: Run, controller: AbortController): NodeJS.Timeout[] {
  const limit = run.task.meter?.limits?.task;
  if (limit === undefined) return [];
  const abort = () => {
    // The heartbeat compares the time of all engines of a split run.
    if (!run.usedMs) controller.abort(new TaskError(outOfMinutesPerTask(limit)));
  };
  return [setTimeout(abort, limit)];
}

/** Returns the engine time of a run: as the engine reported it, but never more than the time the run took. */
function engineTime({ task, engine, usedMs }: Run): { engine?: EngineTime } {
  if (!task.meter) return {};
  const whole = usedMs ? { ms: usedMs() } : elapsed(task.meter, Date.now());
  return { engine: engine ? { ...engine, ms: Math.min(engine.ms, whole.ms) } : whole };
}

type Measure = (outcome: 'completed' | 'failed' | 'lost' | 'given back', failure?: TaskFailure) => void;

/** Returns a function that writes the metrics of a run at its end. */
function startMeasuring(engine: string, queuedAt: number, ids: { attempt: number } & Record<string, unknown>): Measure {
  const began = Date.now();
  const waited = Math.max(0, began - queuedAt) / 1000;
  return (outcome, failure) =>
    writeMetrics(
      {
        TaskSeconds: (Date.now() - began) / 1000,
        // A later run did not only wait in the queue, but also for the end of the previous run.
        ...defined({ QueueSeconds: ids.attempt === 1 ? waited : undefined, TaskFailures: failure && 1 }),
      },
      { engine, ...defined({ errorCode: failure?.errorCode }) },
      { message: 'the run ended', outcome, ...ids },
    );
}

/** Records the failure of a task and returns it; undefined if the run had lost its task. */
async function recordFailure(
  run: Run,
  discardWork: () => Promise<void>,
  error: unknown,
): Promise<TaskFailure | undefined> {
  const { signal, task, attempt } = run;
  if (signal.aborted && signal.reason instanceof TaskLost) {
    run.logger.info('the run lost its task', { reason: signal.reason.message });
    await discard(run);
    if (run.usedMs && signal.reason.isEnded) await discardWork();
    return undefined;
  }
  const failure = failureOf(signal.aborted ? signal.reason : error);
  // Failures that the file did not cause are retried: the message is redelivered until it reaches the dead-letter queue.
  if (!failure) {
    redactError(error, run.secrets);
    run.logger.error('the run broke off', { error });
    throw error;
  }
  run.logger.warn('the task failed', {
    ...failure,
    msg: redact(failure.msg, run.secrets),
    ...(error instanceof EngineError && error.detail ? { detail: lastLines(redact(error.detail, run.secrets)) } : {}),
  });
  await discard(run);
  // The time limit of an engine is not the client's, so a run that reaches it is not charged.
  const engine = failure.errorCode === 'engine_timeout' ? {} : engineTime(run);
  const { outcome } = await lifecycle.apply(task.id, { type: 'failed', attempt, failure, ...engine });
  if (run.usedMs && outcome === 'changed') await discardWork();
  return failure;
}

/** Deletes the objects of a run that failed or lost its task. */
function discard({ task, attempt }: Run): Promise<void> {
  return deleteFiles(task, (key) => !key.startsWith(attemptPrefix(task.id, attempt)));
}

/** Deletes the parts of a task. */
function discardParts(id: string): Promise<void> {
  const prefix = partsPrefix(id);
  // The sweep deletes what this leaves.
  return deleteFiles({ id, operation: '' }, (key) => !key.startsWith(prefix)).catch((error) =>
    logger.warn('left to the sweep', { prefix, error }),
  );
}

/**
 * Deletes the objects of earlier runs that died, so that a completed task has one output. It never deletes those of a later run,
 * which may have taken over the task without this run knowing.
 */
function discardEarlier({ task, attempt }: Run): Promise<void> {
  const earlier = Array.from({ length: attempt }, (_, index) => attemptPrefix(task.id, index));
  return deleteFiles(task, (key) => !earlier.some((prefix) => key.startsWith(prefix)));
}

function failureOf(error: unknown): TaskFailure | undefined {
  if (error instanceof TaskError) return error.failure;
  if (error instanceof EngineError) return { errorCode: 'processing_failed', msg: error.message };
  if (error instanceof OutOfTime) return { errorCode: 'engine_timeout', msg: error.message };
  return undefined;
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-20).join('\n').slice(-4_000);
}

/** Throws if a run has used up its reservation, or a split one the time limit of a single task. */
function requireTime(meter: Meter, now: number, usedMs = 0): void {
  if (now >= (reservationEnd(meter) ?? Number.POSITIVE_INFINITY)) throw new TaskError(outOfMinutes(now));
  const limit = meter.limits?.task ?? Number.POSITIVE_INFINITY;
  if (usedMs >= limit) throw new TaskError(outOfMinutesPerTask(limit));
}

/** Sends heartbeats during the run, writes progress, and aborts the run if it no longer owns the task. */
function startHeartbeat(
  run: Run,
  controller: AbortController,
  longRun: LongRun,
  hide: () => Promise<void>,
  progress: () => Progress,
): () => Promise<void> {
  const pace = new ProgressPace(Date.now());
  let lastBeat = Date.now();
  let lastExtension = 0;
  let stopped = false;
  let ticking: Promise<void> = Promise.resolve();
  const beatOrCheck = async () => {
    const now = Date.now();
    const { percent: reported, parts } = progress();
    const percent = reported !== undefined && pace.isDue(reported, now) ? reported : undefined;
    const beat = now - lastBeat >= beatMs;
    if (beat) lastBeat = now;
    const used = run.usedMs ? withUsed(run.task.meter, run.usedMs(), now) : run.task.meter;
    const isDue = now - lastExtension >= extensionPauseMs;
    const extended = isDue ? extendedMeter(used, now, run.wantedMs) : undefined;
    if (extended) lastExtension = now;
    requireTime(used ?? {}, now, run.usedMs?.());
    if (percent === undefined && !beat && !extended) {
      const task = await lifecycle.read(run.task.id);
      const isOwned = task?.status === 'processing' && task.attempt === run.attempt;
      if (!isOwned) throw new TaskLost(task?.status ?? 'deleted', !task || hasEnded(task));
      return;
    }
    // With the time of a split run, so that a client that cancels the task is charged what it has used.
    const meter = extended ?? (run.usedMs ? used : undefined);
    const progressed = { type: 'progressed', attempt: run.attempt, ...defined({ percent, parts, meter }) } as const;
    const [decision] = await Promise.all([
      lifecycle.apply(run.task.id, progressed, run.task),
      beat ? hide() : undefined,
    ]).finally(() => {
      // A failed write counts too: while the table throttles, the next one must not follow at once.
      if (percent !== undefined) pace.wrote(percent, now, Date.now());
    });
    // Other tasks may return reserved time before this run has used up its own.
    if (decision.outcome === 'overdrawn') {
      // Perhaps a part of it is left.
      if (run.wantedMs) run.wantedMs /= 2;
      return;
    }
    if (decision.outcome === 'missing') throw new TaskLost('deleted', true);
    if (decision.outcome === 'refused') throw new TaskLost(decision.reason, decision.reason === 'ended');
    run.task = decision.task;
  };
  const tick = async () => {
    await beatOrCheck();
    if (!(await longRun.goesOn(Date.now()))) throw new Yielded();
  };
  const timer = setInterval(() => {
    ticking = ticking
      .then(() => (stopped ? undefined : tick()))
      .catch((error) => {
        if (error instanceof TaskLost || error instanceof TaskError || error instanceof Yielded)
          controller.abort(error);
        // A failed heartbeat is no reason to abort; the next one may succeed.
        else run.logger.warn('a heartbeat could not be written', { error });
      });
  }, tickMs);
  return async () => {
    stopped = true;
    clearInterval(timer);
    await ticking;
  };
}
