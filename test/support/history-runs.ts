import { isBroad } from './breadth.ts';

/**
 * Returns how many random histories a test runs: `npm run test:breadth` runs three times the usual number, and
 * `LATHE_TEST_HISTORIES` multiplies it for a long search.
 */
export function historyRuns(usual: number): number {
  return usual * Number(process.env.LATHE_TEST_HISTORIES ?? (isBroad ? 3 : 1));
}
