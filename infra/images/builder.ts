import type { ChildProcess } from 'node:child_process';

/** The user and group that Lambda runs functions as. */
export const lambdaUser = '993:990';

/** Returns the local tag of an engine's image. */
export function tag(engine: string): string {
  return `lathe-${engine}`;
}

/** Builds images and starts them as Lambda does. */
export interface Builder {
  readonly name: string;
  /** Builds an image from its context. */
  build(engine: string, context: string): void;
  /** Returns the image's size in a registry: the sum of its gzipped layers. */
  compressedBytes(engine: string): number;
  /**
   * Starts the entry point of an image as an ordinary user, with only an empty writable /tmp, without /dev/shm, with
   * this machine's network, and with these variables. `data` is a folder of this machine that it may write to as /data.
   */
  start(engine: string, env: Record<string, string>, data?: string): RunningImage;
}

export interface RunningImage {
  process: ChildProcess;
  stop(): void;
  /** Sends SIGTERM to the entry point. */
  terminate(): void;
}
