import { cpus } from 'node:os';

/** Shorter than this, the ticks that systems count in say little. */
const minSpanMs = 200;
/** What was the case before says nothing of now. */
const maxSpanMs = 2_000;
const busyPart = 0.9;

interface Times {
  idle: number;
  all: number;
}

/** Tells whether the processors of this machine have been busy of late, with whatever it may be. */
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

  /** Whether there was hardly any time left, as far as that is known. */
  get isBusy(): boolean {
    const span = this.#now() - this.#lastAt;
    // Asked at every end of an invocation under load, when to read the times of all processors would add to it.
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
