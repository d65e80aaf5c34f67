import type { ChildProcess } from 'node:child_process';

/** What builds images and starts them as Lambda does. */
export interface Builder {
  readonly name: string;
  /** Builds an image from its context. */
  build(engine: string, context: string): void;
  /** Returns the size of the image as a registry stores it: the sum of its gzipped layers. */
  compressedBytes(engine: string): number;
  /**
   * Starts the entry point of an image: as an ordinary user, with nothing writable but an empty /tmp, without /dev/shm,
   * with the network of this machine, and with these variables.
   */
  start(engine: string, env: Record<string, string>): RunningImage;
}

export interface RunningImage {
  process: ChildProcess;
  stop(): void;
}
