import { RecentValues } from '../../../shared/recent-values.ts';

interface Limits {
  milliseconds: number;
  /** Maximum number of results; the oldest is evicted first. */
  max: number;
}

/** Returns a read with a cache. Missing values are not cached. */
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
