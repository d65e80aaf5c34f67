import type { Barriers } from '../barriers.ts';
import { freeUser, probeBarriers, readablePaths } from './launch.ts';
import { WorkRoot } from './work-root.ts';

const probed = new Map<boolean, Promise<Barriers>>();

/** Finds, once per process, the barriers that this system supports for an engine with or without network. */
export function probeEngine({ network }: { network: boolean }): Promise<Barriers> {
  const found = probed.get(network) ?? probe(network);
  probed.set(network, found);
  return found;
}

async function probe(network: boolean): Promise<Barriers> {
  const user = freeUser();
  const readable = readablePaths(new URL(import.meta.url));
  const root = new WorkRoot(user, readable);
  try {
    return await probeBarriers({ root, readable, user, network });
  } finally {
    root.remove();
  }
}
