import { LatheError } from './errors.ts';
import type { Job, Task } from './types.ts';

export type JobEventName = `job_${'started' | 'completed' | 'failed'}`;
export type TaskEventName = `task_${'started' | 'updated' | 'completed' | 'failed' | 'canceled' | 'deleted'}`;

/** An event message of the service. */
export type EventMessage = { event: JobEventName; data: Job } | { event: TaskEventName; data: Task };

type ServerMessage =
  | EventMessage
  | { event: 'subscribed' }
  | { event: 'pong' }
  | { event: 'error'; data: { errorCode: string; msg: string } }
  /** API Gateway did not handle a message. */
  | { event?: undefined; message: string };

/** Time without messages before the job is fetched, because the connection may be dead. */
const quietMs = 30_000;
const connectMs = 20_000;
/** API Gateway limits messages per second. */
const askAgainMs = 1_000;

const statuses: Record<string, number> = { bad_request: 400, forbidden: 403, not_found: 404 };

/** Yields the events of a channel over one connection, and `quiet` if none arrive for a while; ends with the connection. */
export async function* openChannel(
  url: string,
  channel: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventMessage | { event: 'quiet' }> {
  signal?.throwIfAborted();
  const socket = new WebSocket(url);
  const inbox = new Inbox<ServerMessage>();
  const subscribe = () => socket.send(JSON.stringify({ action: 'subscribe', channel }));
  socket.onopen = subscribe;
  socket.onmessage = ({ data }) => inbox.put(JSON.parse(String(data)));
  socket.onclose = () => inbox.end();
  socket.onerror = () => inbox.end();
  const abort = () => inbox.end();
  signal?.addEventListener('abort', abort, { once: true });
  let isSubscribed = false;
  let askAgain: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const message = await inbox.take(isSubscribed ? quietMs : connectMs);
      signal?.throwIfAborted();
      if (message === 'ended' || (message === 'late' && !isSubscribed)) return;
      if (message === 'late') yield { event: 'quiet' };
      else if (message.event === undefined) askAgain = setTimeout(subscribe, askAgainMs);
      else if (message.event === 'error') throw refusalOf(message.data);
      else if (message.event === 'subscribed') isSubscribed = true;
      else if (message.event !== 'pong') yield message;
    }
  } finally {
    clearTimeout(askAgain);
    signal?.removeEventListener('abort', abort);
    socket.onclose = null;
    socket.close();
  }
}

function refusalOf({ errorCode, msg }: { errorCode: string; msg: string }): LatheError {
  return new LatheError(errorCode, msg, { status: statuses[errorCode] });
}

/** A queue of messages for one reader. */
class Inbox<T> {
  readonly #waiting: T[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  put(message: T): void {
    this.#waiting.push(message);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Returns the next message, `ended` after the last, or `late` if none arrives in time. */
  async take(timeoutMs: number): Promise<T | 'ended' | 'late'> {
    if (this.#waiting.length === 0 && !this.#ended)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#wake = undefined;
    return this.#waiting.shift() ?? (this.#ended ? 'ended' : 'late');
  }
}
