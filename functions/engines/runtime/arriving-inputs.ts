import { closeSync, fstatSync } from 'node:fs';
import { mapAtOnce } from '../../../shared/concurrency.ts';

/** Inputs are needed one after another, so the first ones are to be complete soon. */
const inputsAtOnce = 8;

/** Inputs that are fetched, in an order, while the engine works on those that have arrived. */
export class ArrivingInputs {
  readonly #arrivals: PromiseWithResolvers<void>[];
  readonly #stopped = new AbortController();
  readonly #all: Promise<unknown>;
  /** When the last of them arrived. */
  completedAt: number | undefined;

  /** `fetch` writes an input to a descriptor, which is closed afterwards. */
  constructor(
    inputs: { descriptor: number; size: number }[],
    order: number[],
    fetch: (index: number, signal: AbortSignal) => Promise<unknown>,
    signal: AbortSignal,
  ) {
    this.#arrivals = inputs.map(() => Promise.withResolvers<void>());
    for (const { promise } of this.#arrivals) promise.catch(() => {});
    const either = AbortSignal.any([signal, this.#stopped.signal]);
    const fetched = mapAtOnce(order, inputsAtOnce, async (index) => {
      const { descriptor, size = 0 } = inputs[index] ?? {};
      if (descriptor === undefined) throw new Error(`There is no input ${index}.`);
      await fetch(index, either);
      const received = fstatSync(descriptor).size;
      if (received !== size) throw new Error(`Expected input ${index} of ${size} bytes but received ${received}.`);
      this.#arrivals[index]?.resolve();
    });
    this.#all = fetched
      .then(
        () => {
          this.completedAt = performance.now();
        },
        (error: unknown) => {
          for (const { reject } of this.#arrivals) reject(error);
        },
      )
      .finally(() => {
        for (const { descriptor } of inputs) closeSync(descriptor);
      });
  }

  arrival(index: number): Promise<void> {
    return this.#arrivals[index]?.promise ?? Promise.reject(new Error(`There is no input ${index}.`));
  }

  /** Stops fetching, and waits until nothing is being written. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#all;
  }
}
