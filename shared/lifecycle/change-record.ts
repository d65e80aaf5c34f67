/** How one record is read and conditionally written. */
export interface RecordAccess<T> {
  read(): Promise<T | undefined>;
  /** Writes the record if the stored one still has this version; returns whether it did. */
  replace(record: T, version: number): Promise<boolean>;
  /** Delays an attempt; the first is round 0. */
  backOff(round: number): Promise<void>;
}

/** Attempts at a conditional write; contention on one record is a few writers. */
const maxAttempts = 50;

/** Changes a record by a decision that is made again whenever a concurrent write came first. */
export async function changeRecord<T extends { id: string; version: number }, D>(
  { read, replace, backOff }: RecordAccess<T>,
  decide: (record: T) => D,
  next: (decision: D) => T | undefined,
  known?: T,
): Promise<D | { outcome: 'missing' }> {
  // A known record saves a read where it is still current. Where it leads to no write, nothing has proved that it is.
  const likely = known && decide(known);
  const likelyNext = likely && next(likely);
  if (known && likelyNext && (await replace(likelyNext, known.version))) return likely;
  for (let round = 0; ; round++) {
    await backOff(round);
    const current = await read();
    if (!current) return { outcome: 'missing' };
    const decision = decide(current);
    const changed = next(decision);
    if (!changed || (await replace(changed, current.version))) return decision;
    if (round === maxAttempts - 1)
      throw new Error(`The record ${current.id} changed ${maxAttempts} times while it was being written.`);
  }
}
