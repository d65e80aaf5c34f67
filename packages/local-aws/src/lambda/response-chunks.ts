/** Maximum buffered bytes before the function waits for the reader. */
const highWaterBytes = 256 * 1024;

/**
 * The body of a response on its way from the function to the caller. Chunks are passed on immediately and in order, and
 * an error only after all of them. If the reader leaves, the rest is dropped.
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

  /** Ends the response, with an error if the function failed. Later calls have no effect. */
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
