import { RecentValues } from '../../../shared/recent-values.ts';

interface Limits {
  milliseconds: number;
  /** The number of results that are kept; the oldest goes first. */
  max: number;
}

/** Returns a read that remembers what it found for a while. What it did not find it reads again each time. */
export function remember<T>(
  read: (key: string) => Promise<T | undefined>,
  limits: Limits,
): (key: string) => Promise<T | undefined> {
  const known = new RecentValues<T>(limits);
  return async (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = await read(key);
    if (value !== undefined) known.set(key, value);
    return value;
  };
}
