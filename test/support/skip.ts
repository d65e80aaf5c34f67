declare module 'vitest' {
  interface TaskMeta {
    /** Why a test cannot run on this machine, and what would let it. */
    skipReason?: string;
  }
}

/** Options of a suite that is skipped if a reason is given. The reason is repeated in the last lines of the run. */
export function skipBecause(reason: string | undefined): { skip?: boolean; meta?: { skipReason: string } } {
  return reason === undefined ? {} : { skip: true, meta: { skipReason: reason } };
}
