import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { readLines } from '../lambda/lines.ts';
import { lowerPriority } from '../lambda/priority.ts';
import { Reaper } from '../lambda/reaper.ts';
import type { LocalJobDefinition, LocalJobQueue, LocalStack } from '../template/model.ts';

type JobStatus = 'SUBMITTED' | 'PENDING' | 'RUNNABLE' | 'STARTING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED';

interface JobRequest {
  id: string;
  name: string;
  queue: LocalJobQueue;
  definition: LocalJobDefinition;
  /** The share of the queue that it belongs to, if the queue has shares. */
  share: string | undefined;
  tags: Record<string, string>;
  timeoutSeconds: number | undefined;
  /** Overrides of the variables of its definition. */
  environment: Record<string, string>;
}

export interface Job extends JobRequest {
  status: JobStatus;
  statusReason?: string;
  createdAt: number;
  startedAt?: number;
  stoppedAt?: number;
  exitCode?: number;
  isTerminated: boolean;
}

interface JobSchedulerOptions {
  stack: LocalStack;
  cores: number;
  /** Variables of this machine that jobs need. */
  variables: Record<string, string>;
  log(name: string, stream: 'stdout' | 'stderr', line: string): void;
}

/** How long Fargate waits between SIGTERM and SIGKILL. */
const stopMs = 30_000;
/** How long Batch takes between two states, at the least. In AWS it is about a minute until a job runs. */
const stepMs = 100;
/** Batch describes ended jobs for a week. */
const keptMs = 7 * 86_400_000;
const inherited = ['PATH', 'HOME', 'LANG', 'TZ'];

/** Runs the jobs of AWS Batch as processes, one attempt each, and evenly by share within the capacity of their queue. */
export class JobScheduler {
  readonly stack: LocalStack;
  readonly #options: JobSchedulerOptions;
  readonly #jobs = new Map<string, Job>();
  readonly #processes = new Map<Job, ChildProcess>();
  readonly #ended = new Set<Promise<void>>();
  readonly #reaper = new Reaper();
  #isStopped = false;

  constructor(options: JobSchedulerOptions) {
    this.stack = options.stack;
    this.#options = options;
  }

  submit(request: JobRequest): Job {
    const job: Job = { ...request, status: 'SUBMITTED', createdAt: Date.now(), isTerminated: false };
    this.#jobs.set(job.id, job);
    this.#forgetOld();
    setTimeout(() => {
      if (job.status === 'SUBMITTED') job.status = 'RUNNABLE';
      this.#schedule();
    }, stepMs).unref();
    return job;
  }

  find(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  /** Ends a job in any state; does nothing if it has ended. */
  terminate(job: Job, reason: string): void {
    if (hasEnded(job)) return;
    job.isTerminated = true;
    job.statusReason = reason;
    const child = this.#processes.get(job);
    if (child) this.#end(child);
    else if (job.status !== 'STARTING') this.#finish(job, 'FAILED');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const child of this.#processes.values()) child.kill('SIGKILL');
    await Promise.all(this.#ended);
    this.#reaper.close();
  }

  #schedule(): void {
    for (;;) {
      const next = this.#isStopped ? undefined : this.#next();
      if (!next) return;
      next.status = 'STARTING';
      const ended = this.#run(next).finally(() => {
        this.#ended.delete(ended);
        this.#schedule();
      });
      this.#ended.add(ended);
    }
  }

  /** Returns the job that starts next: the oldest of the share with the fewest active jobs. */
  #next(): Job | undefined {
    const jobs = [...this.#jobs.values()];
    const active = jobs.filter(({ status }) => status === 'STARTING' || status === 'RUNNING');
    if (active.length >= this.#options.cores) return undefined;
    const activeOf = ({ queue, share }: Job) =>
      active.filter((each) => each.queue === queue && each.share === share).length;
    const fits = ({ queue, definition }: Job) =>
      active
        .filter((each) => each.queue === queue)
        .reduce((sum, each) => sum + each.definition.vcpus, definition.vcpus) <= queue.maxVcpus;
    const [first] = jobs
      .filter((job) => job.status === 'RUNNABLE' && fits(job))
      .toSorted((one, other) => activeOf(one) - activeOf(other) || one.createdAt - other.createdAt);
    return first;
  }

  async #run(job: Job): Promise<void> {
    const { definition } = job;
    const folder = join(this.#reaper.folder, job.id);
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise((resolve) => setTimeout(resolve, stepMs));
      if (job.isTerminated || this.#isStopped) return this.#finish(job, 'FAILED');
      mkdirSync(folder);
      const child = spawn(process.execPath, [`--max-old-space-size=${definition.memoryMegabytes}`, definition.script], {
        cwd: folder,
        detached: true,
        env: this.#variablesOf(job, folder),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      this.#processes.set(job, child);
      job.status = 'RUNNING';
      job.startedAt = Date.now();
      if (child.pid !== undefined) lowerPriority(child.pid, false, false);
      const log = (stream: 'stdout' | 'stderr') => (line: string) =>
        this.#options.log(definition.logicalId, stream, line);
      readLines(child.stdout, log('stdout'));
      readLines(child.stderr, log('stderr'));
      if (job.timeoutSeconds !== undefined)
        timer = setTimeout(
          () => this.terminate(job, 'Job attempt duration exceeded timeout'),
          job.timeoutSeconds * 1_000,
        );
      const [code] = await once(child, 'exit');
      if (child.pid !== undefined) await this.#reaper.end(child.pid, folder);
      // Docker reports a signal as 128 plus its number.
      job.exitCode = typeof code === 'number' ? code : 137;
      job.statusReason ??= 'Essential container in task exited';
      this.#finish(job, code === 0 && !job.isTerminated ? 'SUCCEEDED' : 'FAILED');
    } catch (error) {
      job.statusReason = String(error);
      this.#finish(job, 'FAILED');
    } finally {
      clearTimeout(timer);
      this.#processes.delete(job);
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  #variablesOf({ id, definition, environment, queue }: Job, folder: string): Record<string, string> {
    const { region } = this.stack;
    const { entry } = definition;
    const own = inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
    return {
      ...Object.fromEntries(own),
      ...definition.environment,
      ...this.#options.variables,
      ...environment,
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_EXECUTION_ENV: 'AWS_ECS_FARGATE',
      AWS_BATCH_JOB_ID: id,
      AWS_BATCH_JOB_ATTEMPT: '1',
      AWS_BATCH_JQ_NAME: queue.logicalId,
      // Set by the image.
      LAMBDA_TASK_ROOT: dirname(entry),
      _HANDLER: `${basename(entry, extname(entry))}.handler`,
      TMPDIR: folder,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'node-compile-cache'),
    };
  }

  #finish(job: Job, status: 'SUCCEEDED' | 'FAILED'): void {
    job.status = status;
    job.stoppedAt = Date.now();
  }

  #end(child: ChildProcess): void {
    child.kill('SIGTERM');
    setTimeout(() => child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'), stopMs).unref();
  }

  #forgetOld(): void {
    for (const [id, job] of this.#jobs)
      if (job.stoppedAt !== undefined && job.stoppedAt < Date.now() - keptMs) this.#jobs.delete(id);
  }
}

function hasEnded({ status }: Job): boolean {
  return status === 'SUCCEEDED' || status === 'FAILED';
}
