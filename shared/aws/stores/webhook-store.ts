import type { Job } from '../../jobs/job.ts';
import type { DeliveryRef } from '../../webhooks/deliveries.ts';
import type { Delivery, Webhook } from '../../webhooks/webhook.ts';
import {
  get,
  type Item,
  itemExists,
  itemIsAbsent,
  type Key,
  put,
  putIf,
  query,
  queryPartition,
  remove,
  storedIn,
  update,
} from '../table.ts';
import { partitions } from '../table-schema.ts';
import { shardOf } from './records.ts';

/** A user's webhooks are listed together. One given with a job is found by the job. */
const webhookKey = (owner: string, id: string): Key => ({ pk: `${partitions.webhook}${owner}`, sk: `hook#${id}` });
const keyOf = (webhook: Webhook) => webhookKey(webhook.job ?? webhook.user, webhook.id);
const deliveryKey = ({ webhook, delivery }: DeliveryRef): Key => ({
  pk: `${partitions.delivery}${webhook}`,
  sk: `delivery#${delivery}`,
});

/** Stores a new webhook. */
export async function storeWebhook(webhook: Webhook): Promise<void> {
  const ttl = webhook.expiresAt ? Math.ceil(Date.parse(webhook.expiresAt) / 1000) : undefined;
  await put({ ...keyOf(webhook), ...webhook, ttl });
}

/** Returns a webhook of a user, or of one of their jobs. */
export async function readWebhook(user: string, id: string): Promise<Webhook | undefined> {
  const items = await Promise.all([user, id].map((owner) => get(webhookKey(owner, id))));
  const [webhook] = items.flatMap((item) => (item && item.user === user ? [storedIn<Webhook>(item)] : []));
  return webhook;
}

/** Returns the webhooks of a user, the oldest first. */
export async function listWebhooks(user: string): Promise<Webhook[]> {
  return (await queryPartition(`${partitions.webhook}${user}`)).map(storedIn<Webhook>);
}

/** Returns the webhooks that receive the events of a job. */
export async function webhooksFor(job: Job): Promise<Webhook[]> {
  const own = job.webhook === undefined ? undefined : get(webhookKey(job.id, job.webhook));
  const [all, given] = await Promise.all([listWebhooks(job.user), own]);
  return given ? [...all, storedIn<Webhook>(given)] : all;
}

/** Deletes a webhook; its pending deliveries fail. */
export async function deleteWebhook(webhook: Webhook): Promise<void> {
  await remove(keyOf(webhook));
}

/** Disables a webhook whose receiver responded with 410 Gone. */
export async function disableWebhook(webhook: Webhook): Promise<void> {
  const values = { ':now': new Date().toISOString() };
  await update(keyOf(webhook), 'SET disabledAt = if_not_exists(disabledAt, :now)', { condition: itemExists, values });
}

/** Reads a delivery. */
export async function readDelivery(ref: DeliveryRef): Promise<Delivery | undefined> {
  const item = await get(deliveryKey(ref));
  return item && storedIn<Delivery>(item);
}

/** Returns the deliveries of a webhook, those of the newest jobs first. */
export async function listDeliveries(webhook: string, limit: number): Promise<Delivery[]> {
  const values = { ':pk': `${partitions.delivery}${webhook}` };
  return (await query({ keys: 'pk = :pk', values, descending: true, limit })).map(storedIn<Delivery>);
}

/** Creates a delivery; returns the existing one, if any, and leaves it as it is. */
export async function createDelivery(delivery: Delivery): Promise<Delivery | undefined> {
  if (await putIf(fromDelivery(delivery), itemIsAbsent)) return undefined;
  return readDelivery({ webhook: delivery.webhook, delivery: delivery.id });
}

/** Writes a delivery if the stored one has the previous version; returns whether it did. */
export function replaceDelivery(delivery: Delivery): Promise<boolean> {
  return putIf(fromDelivery(delivery), 'version = :before', { ':before': delivery.version - 1 });
}

function fromDelivery(delivery: Delivery): Key & Item {
  return {
    ...deliveryKey({ webhook: delivery.webhook, delivery: delivery.id }),
    ...delivery,
    ttl: Math.ceil(Date.parse(delivery.expiresAt) / 1000),
    dueShard: delivery.dueAt === undefined ? undefined : shardOf(delivery.job),
  };
}
