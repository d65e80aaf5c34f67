/** Collects bits, high ones first. */
export class BitStream {
  readonly #bytes: number[] = [];
  #waiting = 0;
  #count = 0;

  write(value: number, length: number): void {
    for (let bit = length - 1; bit >= 0; bit--) {
      this.#waiting = (this.#waiting << 1) | ((value >> bit) & 1);
      this.#count += 1;
      if (this.#count === 8) {
        this.#bytes.push(this.#waiting);
        [this.#waiting, this.#count] = [0, 0];
      }
    }
  }

  /** Returns all bytes, the last one filled up. */
  bytes(filling: 0 | 1): Buffer {
    while (this.#count > 0) this.write(filling, 1);
    return Buffer.from(this.#bytes);
  }
}
