import type { LocalFunction } from '../template/model.ts';

export interface RuntimeOptions {
  /** The whole environment of a function, credentials and endpoints included. */
  environmentOf: (fn: LocalFunction) => Record<string, string>;
  /** How many processes an image function may have at once. */
  cores: number;
  log: (fn: LocalFunction, stream: 'stdout' | 'stderr', line: string) => void;
  /** How long an environment is kept without work; defaults to 300. */
  idleSeconds?: number;
  /** How many threads are kept without work, over all zip functions; defaults to 12. */
  maxIdleThreads?: number;
}

export const IDLE_SECONDS = 300;
/** Each has a heap of its own, 30 to 50 MB, and there are more functions than a laptop should keep of those. */
export const MAX_IDLE_THREADS = 12;
