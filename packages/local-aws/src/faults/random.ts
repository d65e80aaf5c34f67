/**
 * A random generator with a seed, so that runs can be repeated.
 * The algorithm is mulberry32 by Tommy Ettinger, which is in the public domain.
 */
export class Random {
  readonly #seed: number;
  #state: number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#state = this.#seed;
  }

  /** Returns a number from 0 up to, but excluding, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns true with a probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns a number between two others. */
  between(min: number, max: number): number {
    return min + this.next() * (max - min);
  }

  /** Returns an integer from 0 up to, but excluding, the limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Returns a separate generator for a name, so that consumers do not affect each other's sequences. */
  fork(name: string): Random {
    let hash = this.#seed ^ 0x811c9dc5;
    for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193);
    return new Random(hash);
  }
}
