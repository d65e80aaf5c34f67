import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { messageOf, request } from '../service/request.ts';

export interface Loaded<T> {
  data: Signal<T | undefined>;
  problem: Signal<string>;
  /** Asks again, and shows the old until the new is there. */
  reload(): void;
}

/** Fetches what a path of the service returns, again whenever the path changes. */
export function useLoaded<T>(path: string): Loaded<T> {
  const data = useSignal<T | undefined>(undefined);
  const problem = useSignal('');
  const asked = useSignal(0);
  useEffect(() => {
    const stop = new AbortController();
    request<T>('GET', path, undefined, stop.signal).then(
      (found) => {
        problem.value = '';
        data.value = found;
      },
      (error) => {
        if (!stop.signal.aborted) problem.value = messageOf(error);
      },
    );
    return () => stop.abort();
  }, [path, asked.value]);
  return {
    data,
    problem,
    reload() {
      asked.value += 1;
    },
  };
}

/** Returns what runs an action, and what went wrong with the last one. */
export function useAction(): { problem: Signal<string>; run(action: () => Promise<void>): Promise<void> } {
  const problem = useSignal('');
  return {
    problem,
    async run(action) {
      problem.value = '';
      try {
        await action();
      } catch (error) {
        problem.value = messageOf(error);
      }
    },
  };
}
