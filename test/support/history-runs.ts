/** Returns how many random histories a test plays: `LATHE_TEST_HISTORIES` multiplies the usual number, for a long search. */
export function historyRuns(usual: number): number {
  return usual * Number(process.env.LATHE_TEST_HISTORIES ?? 1);
}
