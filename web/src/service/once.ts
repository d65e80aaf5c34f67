import { request } from './request.ts';

const known = new Map<string, Promise<unknown>>();

/** Fetches a path once while the page is open; failures are not cached. */
export function once<T>(path: string): Promise<T> {
  const asked = (known.get(path) ?? request<T>('GET', path)) as Promise<T>;
  known.set(path, asked);
  asked.catch(() => known.delete(path));
  return asked;
}
