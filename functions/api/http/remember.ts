interface Limits {
  milliseconds: number;
  /** The number of results that are kept; the oldest goes first. */
  max: number;
}

/** Returns a read that remembers what it found for a while. What it did not find it reads again each time. */
export function remember<T>(
  read: (key: string) => Promise<T | undefined>,
  { milliseconds, max }: Limits,
): (key: string) => Promise<T | undefined> {
  const known = new Map<string, { value: T; until: number }>();
  return async (key) => {
    const found = known.get(key);
    if (found && found.until > Date.now()) return found.value;
    known.delete(key);
    const value = await read(key);
    if (value === undefined) return undefined;
    known.set(key, { value, until: Date.now() + milliseconds });
    const [oldest] = known.keys();
    if (known.size > max && oldest !== undefined) known.delete(oldest);
    return value;
  };
}
