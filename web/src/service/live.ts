import { call, RequestError, request } from './request.ts';
import type { Health, Job, Task, Token } from './types.ts';

/** After this long without a message, the state is fetched. */
const silenceMs = 10_000;
const openMs = 4_000;
/** Delay before a failed fetch is retried. */
const retryMs = 3_000;
const lastTasksMs = 1_000;

type Listener = (subject: Job | Task) => void;

let opening: Promise<WebSocket> | undefined;
const listeners = new Map<string, Set<Listener>>();

export interface JobListener {
  onChange(job: Job): void;
  /** Receives why the state is unknown; `isFinal` if it stays unknown, for example because the job was deleted. */
  onProblem(error: unknown, isFinal: boolean): void;
}

/** Reports changes of a job until it and all its tasks have ended; returns a function that stops it. */
export function followJob(id: string, { onChange, onProblem }: JobListener): () => void {
  const stopped = new AbortController();
  let known: Job | undefined;
  let heardAt = 0;
  const show = (job: Job) => {
    known = job;
    if (!stopped.signal.aborted) onChange(job);
  };
  const fetchJob = async (wait: boolean): Promise<void> => {
    const path = `/v1/process/jobs/${id}${wait ? '/wait' : '?include=tasks'}`;
    try {
      const { body, headers } = await call<Job>('GET', path, undefined, stopped.signal);
      show(merged(known, body));
      if (wait && !isOver(body)) await pause(pauseAfter(body, headers));
    } catch (error) {
      if (stopped.signal.aborted || !isTransient(error)) throw error;
      onProblem(error, false);
      await pause(retryMs);
      if (!stopped.signal.aborted) await fetchJob(wait);
    }
  };
  const listener: Listener = (subject) => {
    heardAt = Date.now();
    if (!known) return;
    const next = isTask(subject) ? withTask(known, subject) : merged(known, subject);
    if (next !== known) show(next);
  };
  const run = async () => {
    await fetchJob(false);
    const isLive = await listen(`job.${id}`, listener);
    while (!stopped.signal.aborted && known && !isOver(known)) {
      if (!isLive) await fetchJob(true);
      else {
        await pause(500);
        if (Date.now() - heardAt > silenceMs) {
          heardAt = Date.now();
          await fetchJob(false);
        }
      }
    }
    // Events of single tasks may still be in flight when the job ends.
    if (!stopped.signal.aborted && isLive) await fetchJob(false);
  };
  run()
    .catch((error) => {
      if (!stopped.signal.aborted) onProblem(error, true);
    })
    .finally(() => stop(`job.${id}`, listener));
  return () => stopped.abort();
}

/** Returns whether a job and all its tasks have ended: a failed job may still have open tasks. */
export function isOver({ status, tasks = [] }: Job): boolean {
  return (status === 'completed' || status === 'failed') && tasks.every((task) => task.endedAt !== null);
}

/** Returns the delay before the next long poll: the service limits them, and has none for tasks of an ended job. */
function pauseAfter({ endedAt }: Job, headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : endedAt === null ? 0 : lastTasksMs;
}

/** Returns whether the same request may succeed later: the service was unreachable or overloaded. */
function isTransient(error: unknown): boolean {
  return error instanceof RequestError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

async function listen(channel: string, listener: Listener): Promise<boolean> {
  const all = listeners.get(channel) ?? new Set();
  listeners.set(channel, all.add(listener));
  try {
    const socket = await connected();
    socket.send(JSON.stringify({ action: 'subscribe', channel }));
    return true;
  } catch {
    // Many proxies block WebSockets; long polling works through all of them.
    return false;
  }
}

function stop(channel: string, listener: Listener): void {
  const all = listeners.get(channel);
  all?.delete(listener);
  if (all?.size !== 0) return;
  listeners.delete(channel);
  opening
    ?.then((socket) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ action: 'unsubscribe', channel }));
    })
    .catch(() => undefined);
}

function connected(): Promise<WebSocket> {
  opening ??= open();
  opening.catch(() => {
    opening = undefined;
  });
  return opening;
}

async function open(): Promise<WebSocket> {
  const [{ websocket }, { token }] = await Promise.all([
    request<Health>('GET', '/health'),
    request<Token>('POST', '/v1/account/token', {}),
  ]);
  const socket = new WebSocket(`${websocket.url}?token=${encodeURIComponent(token)}`);
  socket.addEventListener('message', ({ data }) => dispatch(String(data)));
  socket.addEventListener('close', () => {
    opening = undefined;
  });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The socket did not open in time.')), openMs);
    socket.addEventListener('open', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.addEventListener('error', () => reject(new Error('The socket was refused.')));
  });
  return socket;
}

function dispatch(text: string): void {
  const { channel, data }: { channel?: string; data?: unknown } = JSON.parse(text);
  if (channel === undefined || !isSubject(data)) return;
  for (const listener of listeners.get(channel) ?? []) listener(data);
}

function isSubject(data: unknown): data is Job | Task {
  return typeof data === 'object' && data !== null && 'version' in data && 'id' in data;
}

function isTask(subject: Job | Task): subject is Task {
  return 'operation' in subject;
}

function withTask(job: Job, task: Task): Job {
  const { tasks = [] } = job;
  const before = tasks.find(({ id }) => id === task.id);
  if (before && before.version >= task.version) return job;
  return { ...job, tasks: before ? tasks.map((each) => (each === before ? task : each)) : [...tasks, task] };
}

/** Returns the newer of two states of a job, with the newer state of each task. */
function merged(known: Job | undefined, next: Job): Job {
  if (!known) return next;
  const base = next.version >= known.version ? next : known;
  return (next.tasks ?? []).reduce(withTask, { ...base, ...(known.tasks ? { tasks: known.tasks } : {}) });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
