/** A part of the template that the local stack cannot run. Never skipped: it would run in AWS. */
export class NotUnderstood extends Error {
  override name = 'NotUnderstood';
}

/**
 * The resolved properties of a resource. Each must be read or skipped explicitly: `finish` throws for any that is left,
 * including nested ones, so that nothing in the template is silently ignored.
 */
export class Properties {
  readonly #path: string;
  readonly #left: Map<string, unknown>;
  readonly #within: Properties[] = [];

  constructor(path: string, value: unknown) {
    this.#path = path;
    this.#left = new Map(Object.entries(isObject(value) ? value : {}));
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw new NotUnderstood(`${this.#path}.${name}: expected a string, but it is missing.`);
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' && typeof value !== 'number') throw this.#wrong(name, 'a string', value);
    return String(value);
  }

  number(name: string, fallback: number): number {
    const value = this.#take(name);
    if (value === undefined) return fallback;
    if (typeof value !== 'number') throw this.#wrong(name, 'a number', value);
    return value;
  }

  optionalNumber(name: string): number | undefined {
    return this.#left.has(name) ? this.number(name, 0) : undefined;
  }

  texts(name: string): string[] {
    const value = this.#take(name);
    if (value === undefined) return [];
    const values = Array.isArray(value) ? value : [value];
    return values.map((item) => {
      if (typeof item !== 'string') throw this.#wrong(name, 'a list of strings', value);
      return item;
    });
  }

  object(name: string): Properties {
    return this.#enter(name, this.#take(name));
  }

  objects(name: string): Properties[] {
    const value = this.#take(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.#wrong(name, 'a list', value);
    return value.map((item, index) => this.#enter(`${name}[${index}]`, item));
  }

  /** Returns a property of any type. */
  raw(name: string): unknown {
    return this.#take(name);
  }

  /** Skips properties that have no local meaning; the reason is for the reader. */
  pass(_reason: string, ...names: string[]): void {
    for (const name of names) this.#left.delete(name);
  }

  /** Accepts a property only with one of these values, if present. */
  only(name: string, ...accepted: unknown[]): void {
    const value = this.#take(name);
    if (value !== undefined && !accepted.includes(value))
      throw this.#wrong(name, accepted.map((item) => JSON.stringify(item)).join(' or '), value);
  }

  finish(): void {
    const [first] = this.#left.keys();
    if (first !== undefined) throw new NotUnderstood(`${this.#path}.${first} is not understood by the local stack.`);
    for (const part of this.#within) part.finish();
  }

  #enter(name: string, value: unknown): Properties {
    const part = new Properties(`${this.#path}.${name}`, value);
    this.#within.push(part);
    return part;
  }

  #take(name: string): unknown {
    const value = this.#left.get(name);
    this.#left.delete(name);
    return value;
  }

  #wrong(name: string, expected: string, value: unknown): NotUnderstood {
    return new NotUnderstood(`${this.#path}.${name}: expected ${expected} but found ${JSON.stringify(value)}.`);
  }
}

/** Returns whether a value is an object with keys. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
