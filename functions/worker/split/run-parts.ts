import { withDeadline } from '../../../shared/concurrency.ts';
import { NoEngineFree, Unfinished } from '../../invocation/errors.ts';
import { endingMs } from '../engine-response.ts';
import type { PartStates } from './part-states.ts';
import type { PlannedPart } from './plan-parts.ts';
import type { FinishedPart } from './stored-runs.ts';

const tickMs = 250;
/** How long no part is started after Lambda has refused one. */
const refusedPauseMs = 2_000;
/** Time before the deadline for returning the task to its queue. */
const returnMs = 5_000;

export interface PartsWork {
  /** Runs a part, and returns what the set of finished parts has for it. */
  perform(part: PlannedPart, run: number, progress: (percent: number) => void): Promise<FinishedPart>;
  /** Returns how many parts may be in progress. */
  places(active: number, waiting: number): Promise<number>;
  /** Ends all runs in progress. */
  revoke(): Promise<unknown>;
  /** Called after each change. */
  onChange(): void;
  signal: AbortSignal;
  deadline: number;
  /** The time that a chunk is planned to take, in milliseconds. */
  partMs: number;
}

/**
 * Runs parts until all have finished. A part that fails is repeated alone. Near the deadline it throws `Unfinished`, and the next
 * attempt goes on with the rest. No engine is running when it returns or throws.
 */
export async function runParts(states: PartStates, work: PartsWork): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let refusedUntil = 0;
  let changed = Promise.withResolvers<void>();
  const began = Date.now();
  const start = (part: PlannedPart) => {
    const run = states.begin(part.name, Date.now());
    const ended = work
      .perform(part, run, (percent) => {
        states.progress(part.name, run, percent);
        work.onChange();
      })
      .then(
        (result) => states.finish(part.name, run, result, Date.now()),
        (error: unknown) => {
          if (!(error instanceof NoEngineFree)) return states.fail(part.name, run, error);
          states.takeBack(part.name, run);
          refusedUntil = Date.now() + refusedPauseMs;
          return undefined;
        },
      )
      .catch((error: unknown) => void failures.push(error))
      .finally(() => {
        running.delete(ended);
        work.onChange();
        changed.resolve();
      });
    running.add(ended);
  };
  const abort = () => changed.resolve();
  work.signal.addEventListener('abort', abort);
  try {
    while (!states.isDone) {
      const places = await work.places(states.active, states.waiting);
      work.signal.throwIfAborted();
      if (failures.length > 0) throw failures[0];
      const now = Date.now();
      const lastStart = Math.max(began + (work.deadline - began) / 2, work.deadline - marginMs(states, work));
      if (now < lastStart && now >= refusedUntil) for (const part of states.next(places, now)) start(part);
      // An attempt that gets nowhere although it had engines goes on to its deadline, and the task fails.
      const isOver = now >= lastStart && (states.active === 0 || now >= work.deadline - returnMs);
      if (isOver && (states.hasFinishedAny || states.active === 0)) throw new Unfinished();
      changed = Promise.withResolvers<void>();
      await withDeadline(changed.promise, tickMs);
    }
  } finally {
    work.signal.removeEventListener('abort', abort);
    if (running.size > 0) {
      await work.revoke();
      await withDeadline(Promise.allSettled([...running]), endingMs);
    }
  }
}

/** Time that a part may need, so that it is not started in vain. */
function marginMs({ median }: PartStates, { partMs }: PartsWork): number {
  return returnMs + 2 * Math.max(partMs, median ?? 0);
}
