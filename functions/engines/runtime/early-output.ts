import { closeSync, fstatSync } from 'node:fs';
import type { AnnouncedOutput } from './engine.ts';
import type { LargeOutput } from './protocol.ts';
import { type Content, contentOf, partsAtOnce, putPart, putParts } from './remote-files.ts';
import type { OpenFile } from './sandbox/folder.ts';

const pollMs = 50;

interface EarlyOptions {
  /** The first bytes of the file, which change until its end. */
  frontBytes: number;
  large: LargeOutput & { front: string };
  signal: AbortSignal;
  /** Opens the file. Throws as long as it does not exist. */
  open(): OpenFile;
  onFailure(error: unknown): void;
}

/** Stores an output in parts while an engine writes it from its start to its end: the front last, and the rest in order. */
export class EarlyOutput {
  readonly #options: EarlyOptions;
  readonly #timer: NodeJS.Timeout;
  /** Parts after the front, in order. */
  readonly #parts: Promise<string>[] = [];
  #descriptor: number | undefined;
  #active = 0;

  constructor(options: EarlyOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#store(), pollMs);
  }

  /** Starts to store the parts that are complete. A muxer may write an index after them, which is not part of the output. */
  #store(): void {
    const { large, onFailure } = this.#options;
    try {
      this.#descriptor ??= this.#options.open().descriptor;
    } catch {
      // The engine has not created the file yet. Delivery reports one that cannot be opened.
      return;
    }
    const { size } = fstatSync(this.#descriptor);
    for (;;) {
      const index = this.#parts.length;
      const url = large.parts[index + 1];
      if (url === undefined || this.#active >= partsAtOnce || this.#endOf(index) + large.partBytes > size) return;
      this.#active += 1;
      const stored = putPart(url, this.#part(this.#descriptor, index), this.#options.signal).finally(() => {
        this.#active -= 1;
      });
      stored.catch(onFailure);
      this.#parts.push(stored);
    }
  }

  #endOf(index: number): number {
    const { frontBytes, large } = this.#options;
    return frontBytes + (index + 1) * large.partBytes;
  }

  /** Returns a part of the file, whose later bytes may change while it is sent. */
  #part(descriptor: number, index: number): Content {
    const end = this.#endOf(index);
    const part = contentOf({ descriptor, path: '', size: end }, end - this.#options.large.partBytes);
    return { ...part, isUnchanged: () => fstatSync(descriptor).size >= end };
  }

  /** Stores what is missing of the complete output, and returns the tags of all parts. */
  async finish(file: OpenFile, { end }: AnnouncedOutput, front: OpenFile | undefined): Promise<string[]> {
    const { frontBytes, large, signal } = this.#options;
    clearInterval(this.#timer);
    const stored = this.#parts.filter((_, index) => this.#endOf(index) <= end);
    const at = Math.min(end, frontBytes + stored.length * large.partBytes);
    const first = front ? contentOf(front) : contentOf(file, 0, Math.min(end, frontBytes));
    const left = contentOf(file, at, end);
    const after = { ...large, parts: large.parts.slice(1 + stored.length) };
    const slice = (from: number, to: number) => contentOf(file, at + from, at + to);
    const [head, before, rest] = await Promise.all([
      putPart(large.front, first, signal),
      Promise.all(stored),
      left.size > 0 ? putParts({ size: left.size, slice }, after, signal) : [],
    ]);
    return [head, ...before, ...rest];
  }

  /** Stops storing, and closes the file once no part is being stored. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled(this.#parts);
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
