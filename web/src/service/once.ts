import { request } from './request.ts';

const known = new Map<string, Promise<unknown>>();

/** Asks the service once for what stays the same while the page is open; what failed is asked again. */
export function once<T>(path: string): Promise<T> {
  const asked = (known.get(path) ?? request<T>('GET', path)) as Promise<T>;
  known.set(path, asked);
  asked.catch(() => known.delete(path));
  return asked;
}
