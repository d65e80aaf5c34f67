import type { Logger } from '@aws-lambda-powertools/logger';
import type { EngineRequest } from './protocol.ts';

/** A canceled task must end its program within two seconds; the worker needs up to half a second to notice. */
const pollMs = 750;

/** The run no longer belongs to its worker: it was canceled, deleted, taken over or is out of time. */
class RunRevoked extends Error {
  override name = 'RunRevoked';
}

export interface RunWatch {
  signal: AbortSignal;
  stop(): void;
}

/**
 * Watches whether a run is revoked. A caller that goes away does not end an invocation of Lambda, so the worker leaves an
 * object in the bucket instead, and one that has died is outlived by the deadline at most.
 */
export function watchRun(
  { revoked, deadline }: Pick<EngineRequest, 'revoked' | 'deadline'>,
  logger: Pick<Logger, 'warn'>,
): RunWatch {
  const controller = new AbortController();
  const stopped = new AbortController();
  const { signal } = stopped;
  let asking = false;
  const ask = async () => {
    if (asking) return;
    asking = true;
    try {
      const { ok } = await fetch(revoked, { method: 'HEAD', signal });
      if (ok) controller.abort(new RunRevoked('The run was revoked.'));
    } catch (error) {
      // The next request may succeed; until then the run goes on, as it would if nothing had changed.
      if (!signal.aborted) logger.warn('could not ask whether the run goes on', { error });
    } finally {
      asking = false;
    }
  };
  const poll = setInterval(ask, pollMs);
  const timer = setTimeout(() => controller.abort(new RunRevoked('The run is out of time.')), deadline - Date.now());
  return {
    signal: controller.signal,
    stop() {
      clearInterval(poll);
      clearTimeout(timer);
      stopped.abort();
    },
  };
}
