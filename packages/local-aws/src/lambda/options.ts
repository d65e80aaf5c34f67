import type { ChildProcess } from 'node:child_process';
import type { FunctionCode, LocalFunction } from '../template/model.ts';
import type { EnvironmentFaults } from './faults.ts';

/** Starts the entry point of a function's image as the leader of a process group; undefined if it has no image. */
export type StartImage = (fn: LocalFunction, variables: Record<string, string>) => ChildProcess | undefined;

export interface RuntimeOptions {
  /**
   * Returns all variables of a function, including credentials and endpoints; credentials expire if a time is given.
   */
  environmentOf: (fn: LocalFunction, expiresAt?: number) => Record<string, string>;
  /** Faults of environments. */
  faults?: EnvironmentFaults | undefined;
  /** Called with an access key to close the connections of a frozen environment. */
  disconnect?: (accessKeyId: string) => void;
  /** Finds the code of functions that do not run from source. */
  codeOf?: (fn: LocalFunction) => Promise<FunctionCode | undefined>;
  /** Starts an environment in the function's image. Otherwise its modules run directly on this machine. */
  startImage?: StartImage | undefined;
  /** Whether a client waits for a function; defaults to no. */
  isAwaited?: (fn: LocalFunction) => boolean;
  /** Maximum environments of an image function, minus one. */
  cores: number;
  log: (fn: LocalFunction, stream: 'stdout' | 'stderr', line: string) => void;
  /** Called when an invocation has begun to respond, failed, or was refused. */
  onInvoked?: (fn: LocalFunction, outcome: 'succeeded' | 'failed' | 'throttled') => void;
  /** How long an idle environment is kept; defaults to 300. */
  idleSeconds?: number;
  /** Maximum idle environments over all zip functions; defaults to 12. */
  maxIdle?: number;
  /** How long additional ones are kept after a burst; defaults to 10. */
  burstSeconds?: number;
  /** Whether the processors are busy; defaults to those of this machine. */
  load?: { readonly isBusy: boolean };
  /** Unreserved concurrency of the account; defaults to unlimited. */
  accountConcurrency?: number | undefined;
  /** Maximum environments over all zip functions; defaults to 100. */
  maxZip?: number;
}

export const defaultIdleSeconds = 300;
/** Each is a process, and there are more functions than processes a laptop should keep. */
export const defaultMaxIdle = 12;
/** Under load, ended environments would have to be started again. */
export const defaultBurstSeconds = 10;
export const defaultMaxZip = 100;
