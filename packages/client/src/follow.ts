import { LatheError } from './errors.ts';
import { pause, pauseBefore, retryAfterOf } from './retry.ts';
import { type EventMessage, type JobEventName, openChannel, type TaskEventName } from './socket.ts';
import type { Transport } from './transport.ts';
import type { CallOptions, Health, Job, Task, Token } from './types.ts';

/** An event of a job or one of its tasks, with the new state. */
export type JobEvent = { event: JobEventName; job: Job } | { event: TaskEventName; task: Task };

export interface FollowOptions extends CallOptions {
  /** Whether to receive events over a WebSocket; defaults to true if supported (browsers, Node 22 and later). */
  live?: boolean | undefined;
}

/** Consecutive failed connections before falling back to long polling. */
const maxFailures = 3;
/** Polling interval for the remaining tasks of a failed job. */
const lastTasksMs = 1_000;

/** Yields the events of a job until it and all its tasks have ended, each state once, reconnecting as needed. */
export async function* followJob(
  transport: Transport,
  id: string,
  { signal, live = typeof WebSocket === 'function' }: FollowOptions,
): AsyncGenerator<JobEvent, void> {
  const history = new History();
  for (let failures = 0; live && failures < maxFailures; ) {
    try {
      for await (const message of openChannel(await addressFor(transport, id, signal), `job.${id}`, signal)) {
        failures = 0;
        if (message.event === 'quiet') yield* history.compare(await showJob(transport, id, signal));
        else yield* history.add(await withWholeData(transport, message, signal));
        if (history.isOver) return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof LatheError && !error.mayPass) throw error;
    }
    failures += 1;
    await pause(pauseBefore(failures, transport.policy), signal);
  }
  // Reports the current state before the first long poll ends.
  yield* history.compare(await showJob(transport, id, signal));
  while (!history.isOver) {
    const { job, pauseMs } = await waitOnce(transport, id, signal);
    yield* history.compare(job);
    if (!history.isOver) await pause(pauseMs, signal);
  }
}

/** Returns the WebSocket URL with a token for this job: browsers cannot send a key, and URLs are logged. */
async function addressFor(transport: Transport, job: string, signal: AbortSignal | undefined): Promise<string> {
  const [{ websocket }, { token }] = await Promise.all([
    transport.json<Health>('GET', '/health', { signal }),
    transport.json<Token>('POST', '/v1/account/token', { body: { job }, signal }),
  ]);
  return `${websocket.url}?token=${encodeURIComponent(token)}`;
}

function showJob(transport: Transport, id: string, signal: AbortSignal | undefined): Promise<Job> {
  return transport.json('GET', `/v1/process/jobs/${encodeURIComponent(id)}`, { signal });
}

/**
 * Waits for the end of a job with one long poll, and returns its current state and the delay before the next poll. The
 * service limits the polls of an account, and has none for the tasks of an ended job.
 */
export async function waitOnce(
  transport: Transport,
  id: string,
  signal: AbortSignal | undefined,
): Promise<{ job: Job; pauseMs: number }> {
  const path = `/v1/process/jobs/${encodeURIComponent(id)}/wait`;
  try {
    const { body: job, headers } = await transport.call<Job>('GET', path, { signal, retries: 0 });
    return { job, pauseMs: retryAfterOf(headers) ?? (job.endedAt === null ? 0 : lastTasksMs) };
  } catch (error) {
    if (!(error instanceof LatheError) || !error.mayPass) throw error;
    // Too many clients are waiting, or the connection was lost. Reading the job itself is not limited.
    await pause(error.retryAfterMs ?? pauseBefore(1, transport.policy), signal);
    return { job: await showJob(transport, id, signal), pauseMs: 0 };
  }
}

/** Returns whether a job and all its tasks have ended. */
export function isOver({ endedAt, tasks = [] }: Job): boolean {
  return endedAt !== null && tasks.every((task) => task.endedAt !== null);
}

/** Fetches the task or job of an event if it was truncated to fit the message. */
async function withWholeData(transport: Transport, message: EventMessage, signal: AbortSignal | undefined) {
  if (!('truncated' in message.data) || message.event === 'task_deleted') return message;
  if (isJobEvent(message)) return { ...message, data: await showJob(transport, message.data.id, signal) };
  const data: Task = await transport.json('GET', `/v1/process/tasks/${message.data.id}`, { signal });
  return { ...message, data };
}

function isJobEvent(message: EventMessage): message is Extract<EventMessage, { data: Job }> {
  return message.event.startsWith('job_');
}

/** The known states of a job and its tasks, to skip states that are not newer. */
class History {
  readonly #known = new Map<string, Pick<Task | Job, 'version' | 'status' | 'endedAt'>>();
  #job: Job | undefined;

  get isOver(): boolean {
    const job = this.#job;
    // There is no event when the last task of a failed job ends.
    if (job?.status !== 'completed' && job?.status !== 'failed') return false;
    return (job.tasks ?? []).every(({ id, endedAt }) => endedAt !== null || this.#hasEnded(id));
  }

  #hasEnded(id: string): boolean {
    const known = this.#known.get(id);
    return known !== undefined && (known.endedAt !== null || known.status === 'deleted');
  }

  /** Yields an event if it is newer than the known state. */
  *add(message: EventMessage): Generator<JobEvent> {
    const { data } = message;
    if ((this.#known.get(data.id)?.version ?? 0) >= data.version) return;
    this.#known.set(data.id, data);
    if (!isJobEvent(message)) {
      yield { event: message.event, task: message.data };
      return;
    }
    this.#job = message.data;
    yield { event: message.event, job: message.data };
  }

  /** Yields the events that lead to the given state of the job. */
  *compare(job: Job): Generator<JobEvent> {
    const tasks = (job.tasks ?? []).flatMap((task): EventMessage[] => {
      const event = taskEventFor(task, this.#known.get(task.id)?.status === 'processing');
      return event ? [{ event, data: task }] : [];
    });
    const event = jobEventFor(job);
    const own: EventMessage[] = event ? [{ event, data: job }] : [];
    for (const message of job.endedAt === null ? [...own, ...tasks] : [...tasks, ...own]) yield* this.add(message);
  }
}

function taskEventFor({ status }: Task, wasStarted: boolean): TaskEventName | undefined {
  if (status === 'created') return undefined;
  if (status === 'processing') return wasStarted ? 'task_updated' : 'task_started';
  return `task_${status}`;
}

function jobEventFor({ status }: Job): JobEventName | undefined {
  if (status === 'created') return undefined;
  return status === 'processing' ? 'job_started' : `job_${status}`;
}
