import type { LocalFunction } from '../template/model.ts';
import type { Capacity } from './capacity.ts';
import { Environment, type Host } from './environment.ts';
import { FunctionError } from './function-error.ts';
import type { IdleEnvironments } from './idle-environments.ts';
import type { Invocation } from './invocation.ts';
import { Turns } from './turns.ts';

interface Waiting {
  invocation: Invocation;
  overdue: boolean;
  timer: NodeJS.Timeout | undefined;
}

export class Fleet {
  readonly #fn: LocalFunction;
  readonly #host: Host;
  readonly #idle: IdleEnvironments;
  readonly #capacity: Capacity;
  readonly #waiting: Waiting[] = [];
  readonly #turns: Turns;
  readonly #all = new Set<Environment>();
  readonly #starting = new Set<Environment>();
  /** Least recently used first. */
  readonly #free: Environment[] = [];
  /** When an invocation last succeeded. */
  #lastEnd = Number.NEGATIVE_INFINITY;
  #lastStart = 0;
  #recheck: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(fn: LocalFunction, host: Host, idle: IdleEnvironments, capacity: Capacity) {
    this.#fn = fn;
    this.#host = host;
    this.#idle = idle;
    this.#capacity = capacity;
    // A waiting request costs nothing; endpoints with waits have reserved concurrency.
    this.#turns = new Turns(fn.reservedConcurrency === undefined ? host.cores + 1 : Number.POSITIVE_INFINITY);
  }

  get lastStart(): number {
    return this.#lastStart;
  }

  get isStarved(): boolean {
    return this.#waiting.length > 0 && this.#all.size === 0;
  }

  /** Whether it can be dropped. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#all.size === 0;
  }

  /**
   * Maximum number of environments. The reserved concurrency may change at any time. An engine has one more than there
   * are cores, like its worker's messages in flight.
   */
  get #max(): number {
    const max = this.#fn.packaging === 'image' ? this.#host.cores + 1 : Number.POSITIVE_INFINITY;
    return Math.min(max, this.#fn.reservedConcurrency ?? max);
  }

  /**
   * Runs an invocation in a free environment, or waits for one as long as a start takes, and only then starts another.
   * That is at most twice as late as the better choice. While all processors are busy and other environments make
   * progress, none is started: each start would cost as much as a dozen invocations.
   */
  run(invocation: Invocation): void {
    if (this.#stopped) {
      invocation.fail(stoppedError());
      return;
    }
    const free = this.#turns.mayRun(invocation) ? this.#takeFree() : undefined;
    if (free) {
      this.#turns.begin(invocation);
      free.run(invocation);
      return;
    }
    const waiting: Waiting = { invocation, overdue: false, timer: undefined };
    waiting.timer = setTimeout(() => {
      waiting.overdue = true;
      this.scale();
    }, this.#host.startTime.milliseconds);
    this.#waiting.push(waiting);
    this.scale();
  }

  /** Starts environments for invocations that waited long enough, as far as there is room. */
  scale(): void {
    if (this.#stopped) return;
    const next = this.#waiting.filter(({ invocation }) => this.#turns.mayRun(invocation));
    const overdue = next.filter((waiting) => waiting.overdue).length;
    const wanted = this.#all.size === 0 ? Math.min(1, next.length) : overdue;
    const isFirst = next.some(({ overdue, invocation }) => overdue && this.#turns.isFirst(invocation));
    // A client with nothing running gets the next free environment. One each for many of them would slow down all.
    if (wanted > this.#starting.size && this.#wouldSlowDown()) {
      this.#recheck ??= setTimeout(() => {
        this.#recheck = undefined;
        this.scale();
      }, this.#host.startTime.milliseconds);
      return;
    }
    // More concurrent starts than cores would only slow each other down.
    const max = Math.min(wanted, this.#host.cores);
    while (this.#starting.size < max && this.#all.size < this.#max && this.#capacity.take(this.isStarved))
      this.#start(this.#all.size > 0 && !isFirst);
  }

  /** Ends every environment immediately. */
  kill(): void {
    for (const environment of this.#all) environment.kill();
  }

  /** Ends every environment, waits for that, and starts no others. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#recheck);
    for (const { invocation, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      invocation.fail(stoppedError());
    }
    const ended = [...this.#all].map((environment) => environment.ended);
    this.kill();
    await Promise.all(ended);
  }

  /**
   * Whether one more start would only slow down environments that are finishing invocations, or other functions'
   * starts. Otherwise a burst would start all of them at once and slow down running invocations.
   */
  #wouldSlowDown(): boolean {
    const { startTime, starting, cores, load } = this.#host;
    if (this.#all.size === 0) return false;
    return starting.size >= cores || (performance.now() - this.#lastEnd < startTime.milliseconds && load.isBusy);
  }

  #start(isFurther: boolean): void {
    const environment = new Environment(
      this.#fn,
      this.#host,
      {
        ready: () => this.#ready(environment),
        failed: (_, error) => this.#failed(environment, error),
      },
      isFurther,
    );
    this.#lastStart = performance.now();
    this.#all.add(environment);
    this.#starting.add(environment);
    this.#host.starting.add(environment);
    void environment.ended.then(() => this.#ended(environment));
  }

  #ready(environment: Environment): void {
    const isFresh = this.#starting.delete(environment);
    this.#host.starting.delete(environment);
    if (isFresh) this.#host.startTime.add(environment.age);
    else this.#lastEnd = performance.now();
    const isEnough = !isFresh && (this.#host.faults?.isRecycled() || this.#capacity.reclaim());
    if (!environment.usable || isEnough) {
      environment.kill();
      return;
    }
    const next = this.#takeWaiting();
    if (next) {
      environment.run(next);
      this.scale();
      return;
    }
    environment.freeze();
    this.#free.push(environment);
    this.#idle.add(environment);
    this.#capacity.idle();
  }

  #failed(environment: Environment, error: FunctionError): void {
    this.#starting.delete(environment);
    this.#host.starting.delete(environment);
    this.#takeWaiting()?.fail(error);
  }

  #ended(environment: Environment): void {
    this.#all.delete(environment);
    this.#starting.delete(environment);
    this.#host.starting.delete(environment);
    this.#idle.remove(environment);
    const index = this.#free.indexOf(environment);
    if (index >= 0) this.#free.splice(index, 1);
    this.#capacity.release();
    this.scale();
  }

  #takeFree(): Environment | undefined {
    for (let environment = this.#free.pop(); environment; environment = this.#free.pop()) {
      this.#idle.remove(environment);
      if (environment.usable) return environment;
      environment.kill();
    }
    return undefined;
  }

  #takeWaiting(): Invocation | undefined {
    const invocation = this.#turns.next(this.#waiting.map((waiting) => waiting.invocation));
    const index = this.#waiting.findIndex((waiting) => waiting.invocation === invocation);
    const [waiting] = index < 0 ? [] : this.#waiting.splice(index, 1);
    clearTimeout(waiting?.timer);
    if (waiting) this.#turns.begin(waiting.invocation);
    return waiting?.invocation;
  }
}

function stoppedError(): FunctionError {
  return new FunctionError('Sandbox.Stopped', 'The runtime was stopped');
}
