import { RecentValues } from '../recent-values.ts';
import { get, type Item, type Key, update } from './table.ts';
import { partitions } from './table-schema.ts';

/**
 * Whether anybody is told of what an account's tasks and jobs do: it has webhooks, or opened a connection lately. Most jobs
 * are only polled, and cost no message, no relay and no search for subscribers then.
 */
export interface Following {
  isFollowed: boolean;
  /** Since when it is, in milliseconds. */
  since?: number;
}

/** How long whoever publishes may rely on what it read. A new subscriber waits for as long before it is sent anything. */
export const followingKnownMs = 500;
/** By how much the clocks of two functions may differ. */
const clockSkewMs = 100;
/** Longer than API Gateway keeps a connection open. */
const connectedMs = (2 * 60 + 10) * 60_000;

const known = new RecentValues<boolean>({ milliseconds: followingKnownMs, max: 1_000 });

/** Returns the key of the item that says whether an account is followed. */
export function followingKey(user: string): Key {
  return { pk: `${partitions.following}${user}`, sk: 'following' };
}

/** Returns what the item of an account says, and remembers it for a moment. */
export function rememberFollowing(user: string, item: Item | undefined): Following {
  const following = followingOf(item);
  known.set(user, following.isFollowed);
  return following;
}

/** Returns whether an account is followed, as of a moment ago at most. */
export async function isFollowed(user: string): Promise<boolean> {
  return known.get(user) ?? rememberFollowing(user, await get(followingKey(user))).isFollowed;
}

/** Returns when an account was last seen without followers, if that was a moment ago. */
export function unfollowedAt(user: string): number | undefined {
  const found = known.find(user);
  return found?.value === false ? found.at : undefined;
}

/** Takes over what another function has seen, by a clock that may be a little ahead of this one. */
export function rememberUnfollowed(user: string, at: number): void {
  const earlier = at - clockSkewMs;
  if ((known.find(user)?.at ?? 0) < earlier) known.set(user, false, earlier);
}

/** Notes that an account has opened a connection, and returns since when it is followed. */
export async function followByConnection(user: string): Promise<number> {
  const now = Date.now();
  const { isFollowed: was, since = now } = followingOf(await get(followingKey(user)));
  // Since then even where it was not: the last connection may have ended before its time.
  const from = was ? since : now;
  await update(followingKey(user), 'SET #until = :until, #since = :since', {
    names: { '#until': 'until', '#since': 'since' },
    values: { ':until': now + connectedMs, ':since': from },
  });
  return from;
}

/** Notes that an account has a webhook, before that is stored. */
export async function followByWebhook(user: string, id: string): Promise<void> {
  await update(followingKey(user), 'ADD webhooks :id', { values: { ':id': new Set([id]) } });
}

/** Notes that an account has a webhook no more, after that was deleted. */
export async function unfollowByWebhook(user: string, id: string): Promise<void> {
  await update(followingKey(user), 'DELETE webhooks :id', { values: { ':id': new Set([id]) } });
}

function followingOf(item: Item | undefined): Following {
  const { until, webhooks, since } = item ?? {};
  const isConnected = typeof until === 'number' && until > Date.now();
  return { isFollowed: isConnected || webhooks instanceof Set, ...(typeof since === 'number' ? { since } : {}) };
}
