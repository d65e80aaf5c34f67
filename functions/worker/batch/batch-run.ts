import { setTimeout as pause } from 'node:timers/promises';
import { newToken, putObject, readStart } from '../../../shared/aws/objects.ts';
import { sizesOf } from '../../../shared/catalogue/sizes.ts';
import { defined } from '../../../shared/defined.ts';
import { attemptPrefix, postedPrefix, type Revocable, type RunName } from '../../../shared/files/keys.ts';
import { totalBytes } from '../../../shared/files/total-bytes.ts';
import { timeOfId } from '../../../shared/ids.ts';
import { writeMetrics } from '../../../shared/metrics.ts';
import { batchDiskBytes } from '../../../shared/tasks/limits.ts';
import { returnDelaySeconds } from '../../../shared/tasks/long-runs.ts';
import { processingFailed } from '../../../shared/tasks/task.ts';
import { queueTimeoutMs } from '../../../shared/tasks/transitions.ts';
import { engineCatalogues } from '../../catalogue/catalogues.ts';
import { EngineError } from '../../engines/runtime/engine.ts';
import { type Mailbox, responseName } from '../../engines/runtime/job/mailbox.ts';
import type { EngineResponse } from '../../engines/runtime/protocol.ts';
import { TaskError, Unfinished } from '../../invocation/errors.ts';
import { keepOutputs } from '../../invocation/keep-outputs.ts';
import { parseResponses, responseLimits } from '../../invocation/parse-response.ts';
import { formatsOf, type RunPlan } from '../../invocation/plan-run.ts';
import { presignInput } from '../../invocation/presign.ts';
import { settings } from '../../wiring/settings.ts';
import { endingMs, requestOf, revoke } from '../engine-response.ts';
import type { Run, RunResult } from '../worker.ts';
import { describeJob, type JobState, submitJob, terminateJob } from './aws-batch.ts';
import { type BatchRecord, dropJob, keepJob, readBatch, removeBatch, type SubmittedJob } from './stored-job.ts';

/** How long a worker stays, so that its heartbeat writes progress and reserves engine time. */
const visitMs = 1_600;
/** A visit follows the previous one within this time. */
const visitEveryMs = 25_000;
/** How much engine time is reserved in advance: more than passes until the next visit. */
const reservedAheadMs = 90_000;
/** A job that has not started for this long is submitted again, because the URL of its mailbox expires. */
const maxWaitMs = 3_600_000;
/** Jobs of a task that may break off. */
const maxFailures = 2;
/** Time before the files of a task are deleted in which its outputs are copied and downloaded. */
const deliveryMs = 600_000;
/** How far the clocks of Batch and of a worker may diverge. */
const clockMs = 5_000;
const endPollMs = 250;

/** A record with a job that counts. */
type Started = BatchRecord & { job: SubmittedJob };

/**
 * Performs a run as a job on AWS Batch. A worker never waits for it: each visit submits the job or looks at it, and then returns
 * the task to its queue, so that another visit follows.
 */
export async function runOnBatch(engine: string, run: Run, plan: RunPlan, record: BatchRecord): Promise<RunResult> {
  const resources = engineCatalogues.find((each) => each.engine === engine)?.resources;
  if (!resources) throw new Error(`There is no catalogue for the engine ${engine}.`);
  const room = batchDiskBytes(resources) - totalBytes(plan.files);
  const seconds = sizesOf(resources).batchHours * 3_600;
  return new BatchRun(engine, run, { ...plan, maxOutputBytes: room }, seconds).visit(record);
}

/** Ends the job of a task that has ended, if it has one. Its engine has stopped storing files when this resolves. */
export async function endBatch(taskId: string): Promise<void> {
  const record = await readBatch(taskId);
  if (!record) return;
  if (record.job) {
    const { count, job } = record;
    await end(taskId, count, job.id, await describeJob(job.id), 'The task has ended.');
    for (const until = Date.now() + endingMs; Date.now() < until; await pause(endPollMs))
      if ((await describeJob(job.id))?.isEnded ?? true) break;
  }
  await removeBatch(taskId);
}

/** Ends a job in this state. */
async function end(
  taskId: string,
  count: number,
  job: string,
  state: JobState | undefined,
  reason: string,
): Promise<void> {
  if (!state || state.isEnded) return;
  // The engine sees the marker within a second. Batch may take longer, and ends what ignores the marker.
  await Promise.all([revoke(taskId, revocable(count)), terminateJob(job, reason)]);
}

class BatchRun {
  readonly #engine: string;
  readonly #run: Run;
  readonly #plan: RunPlan;
  readonly #seconds: number;

  constructor(engine: string, run: Run, plan: RunPlan, seconds: number) {
    this.#engine = engine;
    this.#run = run;
    this.#plan = plan;
    this.#seconds = seconds;
  }

  async visit(known: BatchRecord): Promise<RunResult> {
    const run = this.#run;
    let state: JobState | undefined;
    run.usedMs = () => timeOf(state);
    const record = hasJob(known) ? known : await this.#submit(known);
    state = await describeJob(record.job.id);
    run.wantedMs = timeOf(state) + reservedAheadMs;
    const last = state?.startedAt === undefined ? undefined : await this.#lastResponse(record, state);
    if (last?.type === 'done') return this.#complete(record, state, last);
    if (last?.type === 'refused') throw new EngineError(last.msg, { detail: last.detail });
    if (this.#isOver(state)) throw this.#outOfTime();
    if (last?.type === 'broken' || !state || state.isEnded)
      await this.#replace(record, state, last?.message ?? state?.reason ?? 'AWS Batch does not know the job.');
    else if (state.startedAt === undefined && Date.now() > record.job.submittedAt + maxWaitMs)
      await this.#replace(record, state);
    else {
      this.#reportLate(record.job, state);
      await this.#write(record, state);
    }
    await pause(visitMs, undefined, { signal: run.signal }).catch(() => {
      // The time of the worker is not that of the job.
      if (Date.now() < run.deadline) run.signal.throwIfAborted();
    });
    throw new Unfinished(returnDelaySeconds(Date.now() - record.job.submittedAt));
  }

  /** Submits a job. It only counts once its id is stored, and does nothing before it has a mailbox. */
  async #submit(record: BatchRecord): Promise<Started> {
    const { task, attempt, logger } = this.#run;
    if (this.#isOver(undefined)) throw this.#outOfTime();
    const token = newToken();
    const id = await submitJob(this.#engine, {
      name: `lathe-${task.id}-${attempt}`,
      user: task.user,
      seconds: this.#seconds,
      mailbox: await presignInput(mailboxKey(task.id, token), this.#deadline(undefined)),
    });
    const kept = await keepJob(task.id, record, { id, token, submittedAt: Date.now() });
    if (!kept || !hasJob(kept)) {
      await terminateJob(id, 'Another job of the task was faster.');
      throw new Unfinished(returnDelaySeconds(0));
    }
    logger.info('the run continues on AWS Batch', { job: id });
    return kept;
  }

  /** Writes the mailbox, with URLs signed now: they expire with the credentials of the worker. */
  async #write({ count, job: { token } }: Started, state: JobState): Promise<void> {
    const { task } = this.#run;
    const deadline = this.#deadline(state);
    const names = { output: runName(token), revoked: revocable(count) };
    const key = mailboxKey(task.id, token);
    const mailbox: Mailbox = {
      request: await requestOf({ task, attempt: count, deadline }, this.#plan, names),
      url: await presignInput(key, deadline),
    };
    await putObject(key, JSON.stringify(mailbox), 'application/json');
  }

  /** Counts a job that does not start as a task that waits in its queue, at about the same intervals as the sweep. */
  #reportLate({ id, submittedAt }: SubmittedJob, { startedAt }: JobState): void {
    const waitedMs = Date.now() - submittedAt;
    if (startedAt !== undefined || waitedMs < queueTimeoutMs || waitedMs % queueTimeoutMs >= visitEveryMs) return;
    const { task } = this.#run;
    writeMetrics({ LateTasks: 1 }, {}, { taskId: task.id, jobId: task.job, operation: task.operation, batchJob: id });
  }

  /** Reads what the job has posted, and believes none of it. */
  async #lastResponse({ job: { token } }: Started, state: JobState) {
    const { task, progress } = this.#run;
    const key = `${postedPrefix(task.id, runName(token))}${responseName}`;
    const bytes = await readStart(key, responseLimits.bytes + 1);
    if (!bytes) return undefined;
    const { outputFormat } = this.#plan;
    const responses = parseResponses(bytes, { outputFormat, elapsedMs: timeOf(state) });
    for (const response of responses) if (response.type === 'progress') progress(response.percent);
    return responses.find(isLast);
  }

  async #complete(
    { count, details, job }: Started,
    state: JobState | undefined,
    done: Extract<EngineResponse, { type: 'done' }>,
  ): Promise<RunResult> {
    const run = this.#run;
    run.engine = { ms: done.engineMs, formats: formatsOf(this.#plan) };
    // What it may still be doing is not for this task.
    await end(run.task.id, count, job.id, state, 'The run has ended.');
    return {
      files: await keepOutputs(run, done.outputs, this.#plan.maxOutputBytes, {
        postedBy: runName(job.token),
      }),
      details: { ...done.details, ...details },
    };
  }

  /** Ends a job that broke off or did not start, so that the next visit submits another. */
  async #replace(record: Started, state: JobState | undefined, failure?: string): Promise<void> {
    const { task, logger } = this.#run;
    await end(task.id, record.count, record.job.id, state, 'The run broke off.');
    const hasFailed = failure !== undefined;
    const { failures } = (await dropJob(task.id, record, { hasFailed })) ?? record;
    logger.warn('a job on AWS Batch is repeated', { job: record.job.id, reason: failure });
    if (failures >= maxFailures)
      throw new TaskError(
        processingFailed('The conversion broke off twice. Try another file, or simpler options.'),
        defined({ cause: failure }),
      );
  }

  /** Returns when a job is out of time: after its hours, and before the files of the task are deleted. */
  #deadline(state: JobState | undefined): number {
    const created = timeOfId(this.#run.task.id);
    const keptUntil = created + settings.fileSeconds * 1_000 - deliveryMs;
    return Math.min((state?.startedAt ?? Date.now()) + this.#seconds * 1_000, keptUntil);
  }

  #isOver(state: JobState | undefined): boolean {
    return (state?.stoppedAt ?? Date.now()) >= this.#deadline(state) - clockMs;
  }

  #outOfTime(): TaskError {
    return new TaskError({
      errorCode: 'engine_timeout',
      msg: `The conversion exceeded the time limit of ${this.#seconds / 3_600} hours. Split the file or choose faster options.`,
    });
  }
}

function hasJob(record: BatchRecord): record is Started {
  return record.job !== undefined;
}

/** Returns how long a job has been running. Batch reports it, so that nothing is charged that an engine made up. */
function timeOf(state: JobState | undefined): number {
  return state?.startedAt === undefined ? 0 : Math.max(0, (state.stoppedAt ?? Date.now()) - state.startedAt);
}

function isLast(response: EngineResponse) {
  return response.type === 'done' || response.type === 'refused' || response.type === 'broken';
}

function runName(token: string): RunName {
  return `parts/batch-${token}`;
}

function revocable(count: number): Revocable {
  return `${count}/batch`;
}

/** Next to the prefix of the outputs, and out of reach of their form. */
function mailboxKey(taskId: string, token: string): string {
  return `${attemptPrefix(taskId, runName(token))}mailbox`;
}
