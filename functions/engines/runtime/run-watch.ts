import type { Logger } from '@aws-lambda-powertools/logger';
import type { EngineRequest } from './protocol.ts';

/** A canceled task must end its program within two seconds; the worker needs up to half a second to notice. */
const pollMs = 750;

/** The run no longer belongs to its worker: it was canceled, deleted, taken over or timed out. */
class RunRevoked extends Error {
  override name = 'RunRevoked';
}

export interface RunWatch {
  signal: AbortSignal;
  stop(): void;
}

/**
 * Watches for the revocation of a run. Lambda does not end an invocation when its caller disconnects, so the worker stores
 * an object in the bucket instead. If the worker has died, the run ends at its deadline.
 */
export function watchRun(request: Pick<EngineRequest, 'revoked' | 'deadline'>, logger: Pick<Logger, 'warn'>): RunWatch {
  const controller = new AbortController();
  const stopped = new AbortController();
  const { signal } = stopped;
  let asking = false;
  const ask = async () => {
    // Read each time: a job on AWS Batch gets new URLs while it runs.
    const { revoked } = request;
    if (asking || revoked === undefined) return;
    asking = true;
    try {
      const { ok } = await fetch(revoked, { method: 'HEAD', signal });
      if (ok) controller.abort(new RunRevoked('The run was revoked.'));
    } catch (error) {
      // The next request may succeed. Until then the run continues.
      if (!signal.aborted) logger.warn('could not ask whether the run goes on', { error });
    } finally {
      asking = false;
    }
  };
  const poll = request.revoked === undefined ? undefined : setInterval(ask, pollMs);
  const timer = setTimeout(
    () => controller.abort(new RunRevoked('The run is out of time.')),
    request.deadline - Date.now(),
  );
  return {
    signal: controller.signal,
    stop() {
      clearInterval(poll);
      clearTimeout(timer);
      stopped.abort();
    },
  };
}
