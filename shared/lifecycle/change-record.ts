/** Reads and conditionally writes one record. */
export interface RecordAccess<T> {
  read(): Promise<T | undefined>;
  /** Replaces the record that the new one was made from, if that is still the stored one. */
  replace(record: T, previous: T): Promise<Replacement>;
  /** Delays an attempt; the first is round 0. */
  backOff(round: number): Promise<void>;
}

/** The result of a conditional write. `overdrawn` means that its charge would exceed an allowance. */
export type Replacement = 'written' | 'stale' | 'overdrawn';

/** Attempts at a conditional write; contention on one record is a few writers. */
const maxAttempts = 50;

/** Why a record was not changed, if its decision was not the reason. */
export type NoChange = { outcome: 'missing' } | { outcome: 'overdrawn' };

/** Changes a record by a decision, which is made again whenever a concurrent write came first. */
export async function changeRecord<T extends { id: string; version: number }, D>(
  { read, replace, backOff }: RecordAccess<T>,
  decide: (record: T) => D,
  next: (decision: D) => T | undefined,
  known?: T,
): Promise<D | NoChange> {
  // A known record saves a read if it is still current. If it leads to no write, nothing has proved that it is.
  const likely = known && decide(known);
  const likelyNext = likely && next(likely);
  if (known && likelyNext && (await replace(likelyNext, known)) === 'written') return likely;
  for (let round = 0; ; round++) {
    await backOff(round);
    const current = await read();
    if (!current) return { outcome: 'missing' };
    const decision = decide(current);
    const changed = next(decision);
    const replaced = changed ? await replace(changed, current) : 'written';
    if (replaced === 'written') return decision;
    if (replaced === 'overdrawn') return { outcome: 'overdrawn' };
    if (round === maxAttempts - 1)
      throw new Error(`The record ${current.id} changed ${maxAttempts} times while it was being written.`);
  }
}
