import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Renders a component each second while something runs. */
export function useSeconds(isRunning: boolean): number {
  const seconds = useSignal(0);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => {
      seconds.value += 1;
    }, 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return seconds.value;
}
