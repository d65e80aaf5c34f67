import type { ChildProcess } from 'node:child_process';
import type { FunctionCode, LocalFunction } from '../template/model.ts';
import type { EnvironmentFaults } from './faults.ts';

/** Starts the entry point of a function's image, as the leader of a process group; nothing where it has no image. */
export type StartImage = (fn: LocalFunction, variables: Record<string, string>) => ChildProcess | undefined;

export interface RuntimeOptions {
  /** The whole environment of a function, credentials and endpoints included; they expire where a time is given. */
  environmentOf: (fn: LocalFunction, expiresAt?: number) => Record<string, string>;
  /** What happens to environments by no doing of theirs. */
  faults?: EnvironmentFaults | undefined;
  /** Is called when the connections of a frozen environment are to be closed, with the access key of its credentials. */
  disconnect?: (accessKeyId: string) => void;
  /** The code of functions that do not run from source. */
  codeOf?: (fn: LocalFunction) => Promise<FunctionCode | undefined>;
  /** Starts an environment's process in the image of its function; without one its modules run on this machine. */
  startImage?: StartImage | undefined;
  /** Whether a person or a client waits for a function; defaults to no. */
  isAwaited?: (fn: LocalFunction) => boolean;
  /** How many environments an image function may have at once, less one. */
  cores: number;
  log: (fn: LocalFunction, stream: 'stdout' | 'stderr', line: string) => void;
  /** Is called when an invocation has begun to respond, failed, or was refused. */
  onInvoked?: (fn: LocalFunction, outcome: 'succeeded' | 'failed' | 'throttled') => void;
  /** How long an environment is kept without work; defaults to 300. */
  idleSeconds?: number;
  /** How many environments are kept without work, over all zip functions; defaults to 12. */
  maxIdle?: number;
  /** For how long more than that are kept after a burst; defaults to 10. */
  burstSeconds?: number;
  /** Whether the processors are busy; by default those of this machine. */
  load?: { readonly isBusy: boolean };
  /** How many invocations the account may have at once that no function has reserved; defaults to any number. */
  accountConcurrency?: number | undefined;
  /** How many environments there may be, over all zip functions; defaults to 100. */
  maxZip?: number;
}

export const defaultIdleSeconds = 300;
/** Each has a process of its own, and there are more functions than a laptop should keep of those. */
export const defaultMaxIdle = 12;
/** Under load, each that is ended would have to be started again. */
export const defaultBurstSeconds = 10;
export const defaultMaxZip = 100;
