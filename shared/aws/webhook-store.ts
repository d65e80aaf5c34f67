import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Job } from '../jobs/job.ts';
import type { DeliveryRef } from '../webhooks/deliveries.ts';
import type { Delivery, Webhook } from '../webhooks/webhook.ts';
import { shardOf } from './records.ts';
import { fromItem, type Item, isConditionFailure, table, toItem } from './table.ts';

const key = (pk: string, sk: string): Item => ({ pk: { S: pk }, sk: { S: sk } });
/** A user's webhooks are listed together; one given with a job is found by the job alone. */
const webhookKey = (owner: string, id: string) => key(`hooks#${owner}`, `hook#${id}`);
const deliveryKey = ({ webhook, delivery }: DeliveryRef) => key(`hook#${webhook}`, `delivery#${delivery}`);

/** Stores a new webhook. */
export async function storeWebhook(webhook: Webhook): Promise<void> {
  const { client, name } = table();
  await client.send(
    new PutItemCommand({
      TableName: name,
      Item: toItem({
        ...fromItem(webhookKey(webhook.job ?? webhook.user, webhook.id)),
        ...webhook,
        ...(webhook.expiresAt ? { ttl: Math.ceil(Date.parse(webhook.expiresAt) / 1000) } : {}),
      }),
    }),
  );
}

/** Returns a webhook of a user, or one that was given with a job of theirs. */
export async function readWebhook(user: string, id: string): Promise<Webhook | undefined> {
  const items = await Promise.all([user, id].map((owner) => read(webhookKey(owner, id))));
  const [webhook] = items.flatMap((item) => (item && item.user === user ? [toWebhook(item)] : []));
  return webhook;
}

/** Lists the webhooks of a user, the oldest first. */
export async function listWebhooks(user: string): Promise<Webhook[]> {
  return (await query(`hooks#${user}`, true)).map(toWebhook);
}

/** Returns the webhooks that hear of a job. */
export async function webhooksFor(job: Job): Promise<Webhook[]> {
  const own = job.webhook === undefined ? undefined : read(webhookKey(job.id, job.webhook));
  const [all, given] = await Promise.all([listWebhooks(job.user), own]);
  return given ? [...all, toWebhook(given)] : all;
}

/** Deletes a webhook; what is still to be delivered to it is given up. */
export async function deleteWebhook(webhook: Webhook): Promise<void> {
  const { client, name } = table();
  await client.send(
    new DeleteItemCommand({ TableName: name, Key: webhookKey(webhook.job ?? webhook.user, webhook.id) }),
  );
}

/** Disables a webhook whose receiver is gone for good. */
export async function disableWebhook(webhook: Webhook): Promise<void> {
  const { client, name } = table();
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: name,
        Key: webhookKey(webhook.job ?? webhook.user, webhook.id),
        ConditionExpression: 'attribute_exists(pk)',
        UpdateExpression: 'SET disabledAt = if_not_exists(disabledAt, :now)',
        ExpressionAttributeValues: { ':now': { S: new Date().toISOString() } },
      }),
    );
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
}

/** Reads a delivery. */
export async function readDelivery(ref: DeliveryRef): Promise<Delivery | undefined> {
  const item = await read(deliveryKey(ref));
  return item && toDelivery(item);
}

/** Lists the deliveries of a webhook, those of the newest jobs first. */
export async function listDeliveries(webhook: string, limit: number): Promise<Delivery[]> {
  return (await query(`hook#${webhook}`, false, limit)).map(toDelivery);
}

/** Writes a delivery that is not there yet; returns what was there, if anything. */
export async function createDelivery(delivery: Delivery): Promise<Delivery | undefined> {
  if (await put(delivery, 'attribute_not_exists(pk)')) return undefined;
  return readDelivery({ webhook: delivery.webhook, delivery: delivery.id });
}

/** Writes a delivery if it still has the version before; says whether it did. */
export function replaceDelivery(delivery: Delivery): Promise<boolean> {
  return put(delivery, 'version = :before', { ':before': { N: String(delivery.version - 1) } });
}

async function put(delivery: Delivery, condition: string, values?: Item): Promise<boolean> {
  const { client, name } = table();
  const Item = toItem({
    ...fromItem(deliveryKey({ webhook: delivery.webhook, delivery: delivery.id })),
    ...delivery,
    ttl: Math.ceil(Date.parse(delivery.expiresAt) / 1000),
    dueShard: delivery.dueAt === undefined ? undefined : shardOf(delivery.job),
  });
  try {
    await client.send(
      new PutItemCommand({
        TableName: name,
        Item,
        ConditionExpression: condition,
        ...(values ? { ExpressionAttributeValues: values } : {}),
      }),
    );
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
}

async function read(Key: Item): Promise<Record<string, unknown> | undefined> {
  const { client, name } = table();
  const { Item } = await client.send(new GetItemCommand({ TableName: name, Key, ConsistentRead: true }));
  return Item && fromItem(Item);
}

async function query(partition: string, forward: boolean, limit?: number): Promise<Record<string, unknown>[]> {
  const { client, name } = table();
  const items: Item[] = [];
  let ExclusiveStartKey: Item | undefined;
  do {
    // A page is 1 MB at most, and a delivery holds a body of up to 300 KB.
    const page = await client.send(
      new QueryCommand({
        TableName: name,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: partition } },
        ScanIndexForward: forward,
        ...(limit === undefined ? {} : { Limit: limit - items.length }),
        ...(ExclusiveStartKey ? { ExclusiveStartKey } : {}),
      }),
    );
    items.push(...(page.Items ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey && (limit === undefined || items.length < limit));
  return items.map(fromItem);
}

function toWebhook(record: Record<string, unknown>): Webhook {
  const { pk: _pk, sk: _sk, ttl: _ttl, ...webhook } = record;
  return webhook as unknown as Webhook;
}

function toDelivery(record: Record<string, unknown>): Delivery {
  const { pk: _pk, sk: _sk, ttl: _ttl, dueShard: _shard, ...delivery } = record;
  return delivery as unknown as Delivery;
}
