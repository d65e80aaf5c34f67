import { randomUUID } from 'node:crypto';
import { FunctionError } from './function-error.ts';
import type { Invocation, Report } from './protocol.ts';

/** Lambda's time for loading the module, before the function's own timeout begins. */
const LOADING_SECONDS = 10;
const EXIT_MILLISECONDS = 1_000;

/** The thread or process behind a sandbox. */
export interface Carrier {
  send(invocation: Invocation): void;
  /** Ends it at once; its end is then reported like any other. */
  kill(): void;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: FunctionError): void;
  timer: NodeJS.Timeout;
}

/** Tracks the invocations of one execution environment from its start to its end. */
export class Sandbox {
  readonly ended: Promise<void>;
  readonly #timeoutSeconds: number;
  readonly #carrier: Carrier;
  readonly #log: (line: string) => void;
  readonly #pending = new Map<string, Pending>();
  /** Events that came before the module was loaded. */
  #unsent: { requestId: string; event: string }[] | undefined = [];
  #end: () => void = () => {};
  #usable = true;
  #fatal: FunctionError | undefined;

  constructor(timeoutSeconds: number, carrier: Carrier, log: (line: string) => void) {
    this.#timeoutSeconds = timeoutSeconds;
    this.#carrier = carrier;
    this.#log = log;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Whether it takes further invocations. */
  get usable(): boolean {
    return this.#usable;
  }

  /** Whether an invocation is running or waiting to. */
  get busy(): boolean {
    return this.#pending.size > 0;
  }

  /** Runs the handler on an event given as JSON. */
  invoke(event: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const requestId = randomUUID();
      const loading = this.#unsent !== undefined;
      const seconds = this.#timeoutSeconds + (loading ? LOADING_SECONDS : 0);
      this.#pending.set(requestId, { resolve, reject, timer: this.#startTimer(requestId, seconds) });
      if (this.#unsent) this.#unsent.push({ requestId, event });
      else this.#send(requestId, event);
    });
  }

  /** Ends the environment and fails whatever runs in it. */
  kill(): void {
    this.#usable = false;
    this.#carrier.kill();
  }

  /** Takes a report of the environment. */
  receive(report: Report): void {
    if (report.type === 'fatal') {
      this.#lose(new FunctionError(report.errorType, report.message));
      // It exits by itself once its output is written.
      setTimeout(() => this.#carrier.kill(), EXIT_MILLISECONDS).unref();
      return;
    }
    if (report.type === 'ready') this.#ready();
    else if (report.type === 'result') this.#settle(report.requestId)?.resolve(JSON.parse(report.payload));
    else this.#settle(report.requestId)?.reject(new FunctionError(report.errorType, report.message));
    this.#killWhenUnused();
  }

  /** Records that the thread or process has ended. */
  exited(reason: string): void {
    if (this.#pending.size > 0) this.#log(`Runtime exited ${reason}`);
    this.#lose(new FunctionError('Runtime.ExitError', `Runtime exited ${reason}`));
    this.#end();
  }

  #ready(): void {
    const unsent = this.#unsent ?? [];
    this.#unsent = undefined;
    for (const { requestId, event } of unsent) {
      const pending = this.#pending.get(requestId);
      if (!pending) continue;
      clearTimeout(pending.timer);
      pending.timer = this.#startTimer(requestId, this.#timeoutSeconds);
      this.#send(requestId, event);
    }
  }

  #send(requestId: string, event: string): void {
    this.#carrier.send({ requestId, event, deadline: Date.now() + this.#timeoutSeconds * 1000 });
  }

  #startTimer(requestId: string, seconds: number): NodeJS.Timeout {
    return setTimeout(() => {
      const message = `Task timed out after ${seconds.toFixed(2)} seconds`;
      this.#log(`${requestId} ${message}`);
      this.#usable = false;
      this.#settle(requestId)?.reject(new FunctionError('Sandbox.Timedout', message));
      this.#killWhenUnused();
    }, seconds * 1000);
  }

  #settle(requestId: string): Pending | undefined {
    const pending = this.#pending.get(requestId);
    if (pending) clearTimeout(pending.timer);
    this.#pending.delete(requestId);
    return pending;
  }

  #lose(error: FunctionError): void {
    this.#usable = false;
    this.#fatal ??= error;
    for (const requestId of [...this.#pending.keys()]) this.#settle(requestId)?.reject(this.#fatal);
  }

  #killWhenUnused(): void {
    if (!this.#usable && this.#pending.size === 0) this.#carrier.kill();
  }
}
