import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { retry } from '../../shared/retry.ts';
import { CannotResume, failed, isExplained, Transient } from './failures.ts';
import { anyPace, type Pace, PaceWatch } from './pace.ts';
import { type RetryPolicy, retryDelay } from './retry-policy.ts';

export interface Opened {
  stream: Readable;
  /** Size of the full content, if the other side announces it. */
  size?: number | undefined;
}

/** Content that can be read from any offset. */
export interface Source {
  /** Opens the content; throws CannotResume if it has changed or cannot be read from an offset. */
  open(offset: number, signal: AbortSignal): Promise<Opened>;
  /** Translates an error of a library into one of the service. */
  explain(error: unknown): Error;
}

/** A connection that keeps dropping after a few bytes is aborted. */
const maxResumes = 200;

/**
 * Reads content completely, and resumes dropped or stalled transfers. Throws if the content is incomplete or the other side
 * is slower than the required pace.
 */
export async function* readSteadily(
  source: Source,
  policy: RetryPolicy,
  runSignal: AbortSignal,
  pace: Pace = anyPace,
): AsyncGenerator<Buffer> {
  const watch = new PaceWatch(pace, runSignal, 'sent');
  try {
    yield* readWatched(source, policy, watch);
  } finally {
    watch.stop();
  }
}

async function* readWatched(source: Source, policy: RetryPolicy, { meter, signal }: PaceWatch): AsyncGenerator<Buffer> {
  let offset = 0;
  let fruitless = 0;
  for (let resumes = 0; ; resumes++) {
    const start = offset;
    try {
      signal.throwIfAborted();
      const { stream, size } = await open(source, offset, signal);
      for await (const chunk of watched(stream, policy.idleTimeoutMs, signal)) {
        offset += chunk.length;
        if (size !== undefined && offset > size)
          throw failed(`Received more than the ${size} bytes that the server announced, so the file was rejected.`);
        meter.count(chunk.length);
        meter.ourTurn();
        yield chunk;
        meter.itsTurn();
      }
      if (size === undefined || offset === size) return;
      throw new Transient(`The transfer ended after ${offset} of ${size} bytes.`);
    } catch (error) {
      signal.throwIfAborted();
      const explained = isExplained(error) ? error : source.explain(error);
      fruitless = offset > start ? 1 : fruitless + 1;
      if (resumes >= maxResumes) throw failed(explained.message, error);
      const delayMs = retryDelay(explained, fruitless, policy);
      await pause(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/** Opens content. Rejects on abort even if a library ignores the signal. */
async function open(source: Source, offset: number, signal: AbortSignal): Promise<Opened> {
  const opening = source.open(offset, signal);
  const aborted = Promise.withResolvers<never>();
  const abort = () => {
    aborted.reject(signal.reason);
    opening.then(({ stream }) => stream.on('error', () => undefined).destroy()).catch(() => undefined);
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([opening, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Forwards a stream, and destroys it when the other side is idle too long. Time spent by the reader does not count. */
async function* watched(stream: Readable, idleTimeoutMs: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  const stalled = () =>
    stream.destroy(new Transient(`The transfer stalled: no data for ${Math.round(idleTimeoutMs / 1000)} seconds.`));
  const abort = () => stream.destroy(new DOMException('The run was aborted.', 'AbortError'));
  // It may have been aborted while the stream was opened.
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  let timer = setTimeout(stalled, idleTimeoutMs);
  try {
    for await (const chunk of stream) {
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(stalled, idleTimeoutMs);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    stream.destroy();
  }
}

/** Starts over, up to the maximum number of attempts, if interrupted content cannot be resumed. */
export function startingOver<T>(policy: RetryPolicy, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const delayMs = (error: unknown, attempt: number) => {
    if (!(error instanceof CannotResume)) throw error;
    return retryDelay(new Transient(error.message, { cause: error }), attempt, policy);
  };
  return retry(work, delayMs, signal);
}
