/** How much of a response waits for its reader before the function does. */
const highWaterBytes = 256 * 1024;

/**
 * The body of a response on its way from the function to whoever invoked it: passed on at once, in order, and with
 * an error only after all that came before it. A reader that leaves lets the rest pass unread.
 */
export class ResponseChunks implements AsyncIterable<Buffer> {
  /** Resolves when the response has ended, whether or not it was read. */
  readonly ended: Promise<void>;
  readonly #resolveEnded: () => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #abandoned = false;
  #ended = false;
  #error: Error | undefined;
  #wakeReader: () => void = () => {};
  #wakeWriter: () => void = () => {};

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolveEnded = resolve;
  }

  /** Adds a chunk; resolves when there is room for another. */
  async write(chunk: Buffer): Promise<void> {
    if (this.#abandoned || this.#ended) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#wakeReader();
    while (this.#bytes > highWaterBytes && !this.#abandoned && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
    }
  }

  /** Ends the response, with an error where the function failed; what comes later changes nothing. */
  end(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#resolveEnded();
    this.#wakeReader();
    this.#wakeWriter();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk) {
          this.#bytes -= chunk.length;
          this.#wakeWriter();
          yield chunk;
        } else if (this.#ended) {
          if (this.#error) throw this.#error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
        }
      }
    } finally {
      this.#abandoned = true;
      this.#wakeWriter();
    }
  }
}
