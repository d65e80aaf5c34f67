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
