import type { LocalFunction } from '../template/model.ts';

export interface RuntimeOptions {
  /** The whole environment of a function, credentials and endpoints included. */
  environmentOf: (fn: LocalFunction) => Record<string, string>;
  /** How many processes an image function may have at once. */
  cores: number;
  log: (fn: LocalFunction, stream: 'stdout' | 'stderr', line: string) => void;
  /** How long a process of an image function is kept without work. */
  idleSeconds?: number;
}
