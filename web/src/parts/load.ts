import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { messageOf, request } from '../service/request.ts';

export interface Loaded<T> {
  data: Signal<T | undefined>;
  problem: Signal<string>;
  /** Fetches again, and keeps the current data until then. */
  reload(): void;
}

/** Fetches a path of the service, and again when the path changes. */
export function useLoaded<T>(path: string): Loaded<T> {
  const data = useSignal<T | undefined>(undefined);
  const problem = useSignal('');
  const version = useSignal(0);
  const show = (found: T) => {
    data.value = found;
  };
  useLatest((signal) => request<T>('GET', path, undefined, signal), show, problem, [path, version.value]);
  return {
    data,
    problem,
    reload() {
      version.value += 1;
    },
  };
}

/** Loads data whenever the inputs change, and shows it unless they have changed again. */
export function useLatest<T>(
  load: (signal: AbortSignal) => Promise<T>,
  show: (found: T) => void,
  problem: Signal<string>,
  inputs: unknown[],
): void {
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal).then(
      (found) => {
        if (stop.signal.aborted) return;
        problem.value = '';
        show(found);
      },
      (error) => {
        if (!stop.signal.aborted) problem.value = messageOf(error);
      },
    );
    return () => stop.abort();
  }, inputs);
}

/** Returns a function that runs an action, then `onDone`, and the problem of the last run. */
export function useAction(onDone?: () => void) {
  const problem = useSignal('');
  return {
    problem,
    async run(action: () => Promise<unknown>): Promise<void> {
      problem.value = '';
      try {
        await action();
        onDone?.();
      } catch (error) {
        problem.value = messageOf(error);
      }
    },
  };
}
