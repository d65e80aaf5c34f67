interface Running {
  /** Ends at once. */
  stop(): Promise<void> | void;
  /** Ends when what it waits for has come. */
  drain?(): Promise<void>;
}

/** Something that runs until it is switched off, as operators switch mappings and schedules off and on. */
export class Switch {
  readonly #start: () => Running;
  #running: Running | undefined;

  constructor(start: () => Running) {
    this.#start = start;
    this.turnOn();
  }

  turnOn(): void {
    this.#running ??= this.#start();
  }

  /** Switches it off and loses nothing: it may take as long as a poll of the queue. */
  async turnOff(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await (running?.drain ?? running?.stop)?.();
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }
}
