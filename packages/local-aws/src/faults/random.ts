/**
 * A generator of random choices that repeats itself for the same seed, unlike that of the language.
 * The algorithm is mulberry32 by Tommy Ettinger, which is in the public domain.
 */
export class Random {
  readonly #seed: number;
  #state: number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#state = this.#seed;
  }

  /** Returns a number of at least 0 and below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns true with the probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns a number between two others. */
  between(min: number, max: number): number {
    return min + this.next() * (max - min);
  }

  /** Returns an integer of at least 0 and below the limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Returns a generator of its own for a name, so that who takes how many numbers from one does not change another. */
  fork(name: string): Random {
    let hash = this.#seed ^ 0x811c9dc5;
    for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193);
    return new Random(hash);
  }
}
