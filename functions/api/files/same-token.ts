import { timingSafeEqual } from 'node:crypto';

/** Compares the token of a link in constant time. */
export function sameToken(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}
