import { RecentValues } from '../../recent-values.ts';
import { get, type Item, type Key, update } from '../table.ts';
import { partitions } from '../table-schema.ts';

/**
 * Whether an account's events have a subscriber: it has webhooks, or opened a connection recently. Most jobs are only
 * polled. Their changes cost no message, no relay and no search for connections.
 */
interface Subscribers {
  hasSubscribers: boolean;
  /** Since when there are any, in milliseconds. */
  since?: number;
}

/** How long a publisher may rely on what it read. A new subscriber waits as long before its first event. */
export const subscribersKnownMs = 500;
/** Maximum difference between the clocks of two functions. */
const clockSkewMs = 100;
/** Longer than API Gateway keeps a connection open. */
const connectedMs = (2 * 60 + 10) * 60_000;

const known = new RecentValues<boolean>({ milliseconds: subscribersKnownMs, max: 1_000 });

/** Returns the key of the item that says whether an account has subscribers. */
export function subscribersKey(user: string): Key {
  return { pk: `${partitions.accountSubscribers}${user}`, sk: 'following' };
}

/** Returns the subscribers that an item describes, and caches them briefly. */
export function rememberSubscribers(user: string, item: Item | undefined): Subscribers {
  const subscribers = subscribersOf(item);
  known.set(user, subscribers.hasSubscribers);
  return subscribers;
}

/** Returns whether an account has subscribers, from a cache of half a second. */
export async function hasSubscribers(user: string): Promise<boolean> {
  return known.get(user) ?? rememberSubscribers(user, await get(subscribersKey(user))).hasSubscribers;
}

/** Returns when an account was last seen without subscribers, if the cached value is still valid. */
export function noSubscribersAt(user: string): number | undefined {
  const found = known.find(user);
  return found?.value === false ? found.at : undefined;
}

/** Caches what another function has seen. Its clock may be slightly ahead. */
export function rememberNoSubscribers(user: string, at: number): void {
  const earlier = at - clockSkewMs;
  if ((known.find(user)?.at ?? 0) < earlier) known.set(user, false, earlier);
}

/** Records that an account has opened a connection, and returns since when it has subscribers. */
export async function addConnectedSubscriber(user: string): Promise<number> {
  const now = Date.now();
  const { hasSubscribers: was, since = now } = subscribersOf(await get(subscribersKey(user)));
  // Start from now even if the entry has not expired: the last connection may have closed early.
  const from = was ? since : now;
  await update(subscribersKey(user), 'SET #until = :until, #since = :since', {
    names: { '#until': 'until', '#since': 'since' },
    values: { ':until': now + connectedMs, ':since': from },
  });
  return from;
}

/** Records that an account has a webhook, before the webhook is stored. */
export async function addWebhookSubscriber(user: string, id: string): Promise<void> {
  await update(subscribersKey(user), 'ADD webhooks :id', { values: { ':id': new Set([id]) } });
}

/** Records that an account has no webhook left, after the last one was deleted. */
export async function removeWebhookSubscriber(user: string, id: string): Promise<void> {
  await update(subscribersKey(user), 'DELETE webhooks :id', { values: { ':id': new Set([id]) } });
}

function subscribersOf(item: Item | undefined): Subscribers {
  const { until, webhooks, since } = item ?? {};
  const isConnected = typeof until === 'number' && until > Date.now();
  return { hasSubscribers: isConnected || webhooks instanceof Set, ...(typeof since === 'number' ? { since } : {}) };
}
