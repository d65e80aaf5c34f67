import type { Faults } from '../faults/faults.ts';
import type { Replica } from './dynalite-replica.ts';
import { indexDelay } from './index-lag.ts';
import { LaggingCopy } from './lagging-copy.ts';
import { copyDelay, isFromLaggingCopy } from './stale-reads.ts';

/** Returns what eventually consistent reads see, or undefined if that is always the latest. */
export function misbehavingReplica(faults: Faults): Replica | undefined {
  const lag = faults.random('index-lag');
  const stale = faults.random('stale-reads');
  if (!lag && !stale) return undefined;
  const items = stale && new LaggingCopy<Record<string, unknown>>(() => copyDelay(stale));
  return {
    indexes: lag && new LaggingCopy(() => indexDelay(lag)),
    items: () => (stale && isFromLaggingCopy(stale) ? items : undefined),
    written: (owner, change) => items?.change(owner, [{ key: owner, ...change }]),
  };
}
