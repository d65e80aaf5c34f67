interface Running {
  /** Stops immediately. */
  stop(): Promise<void> | void;
  /** Stops after pending receives have ended. */
  drain?(): Promise<void>;
}

/** Something that runs until it is switched off, such as an event source mapping or a schedule. */
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

  /** Switches it off without losing messages, which may take as long as a queue poll. */
  async turnOff(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await (running?.drain ?? running?.stop)?.();
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }
}
