import { cpus } from 'node:os';

/** Shorter than this, the ticks that systems count in say little. */
const minSpanMs = 200;
/** What was the case before says nothing of now. */
const maxSpanMs = 2_000;
const busyPart = 0.9;

interface Times {
  at: number;
  idle: number;
  all: number;
}

/** Tells whether the processors of this machine have been busy of late, with whatever it may be. */
export class ProcessorLoad {
  readonly #read: () => Times;
  #since: Times;
  #busy = false;

  constructor(read: () => Times = readTimes) {
    this.#read = read;
    this.#since = read();
  }

  /** Whether there was hardly any time left, as far as that is known. */
  get isBusy(): boolean {
    const now = this.#read();
    const span = now.at - this.#since.at;
    if (span < minSpanMs) return this.#busy;
    const idlePart = (now.idle - this.#since.idle) / Math.max(1, now.all - this.#since.all);
    this.#busy = span <= maxSpanMs && 1 - idlePart >= busyPart;
    this.#since = now;
    return this.#busy;
  }
}

function readTimes(): Times {
  const times = cpus().map((cpu) => cpu.times);
  return {
    at: performance.now(),
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0),
  };
}
