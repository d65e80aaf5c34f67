interface Running {
  stop(): Promise<void> | void;
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

  async turnOff(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.stop();
  }
}
