import { cpus } from 'node:os';

/** Over shorter spans, the system's ticks are too coarse. */
const minSpanMs = 200;
/** Older measurements say nothing about the current load. */
const maxSpanMs = 2_000;
const busyPart = 0.9;

interface Times {
  idle: number;
  all: number;
}

/** Measures whether the processors of this machine have been busy recently. */
export class ProcessorLoad {
  readonly #read: () => Times;
  readonly #now: () => number;
  #last: Times;
  #lastAt: number;
  #busy = false;

  constructor(read: () => Times = readTimes, now: () => number = () => performance.now()) {
    this.#read = read;
    this.#now = now;
    this.#last = read();
    this.#lastAt = now();
  }

  /** Whether there was hardly any idle time, as far as known. */
  get isBusy(): boolean {
    const span = this.#now() - this.#lastAt;
    // Called at the end of every invocation; under load, reading all processor times each time would add to it.
    if (span < minSpanMs) return this.#busy;
    const times = this.#read();
    const idlePart = (times.idle - this.#last.idle) / Math.max(1, times.all - this.#last.all);
    this.#busy = span <= maxSpanMs && 1 - idlePart >= busyPart;
    this.#last = times;
    this.#lastAt += span;
    return this.#busy;
  }
}

function readTimes(): Times {
  const times = cpus().map((cpu) => cpu.times);
  return {
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0),
  };
}
