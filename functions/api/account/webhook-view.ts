import type { Account } from '../../../shared/aws/api-keys.ts';
import { readWebhook } from '../../../shared/aws/webhook-store.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import type { Delivery, Webhook } from '../../../shared/webhooks/webhook.ts';
import { notFound } from '../http/errors.ts';

/** Returns a webhook of the caller; another's and an unknown one are alike not found. */
export async function ownedWebhook(account: Account, id: string): Promise<Webhook> {
  const webhook = await readWebhook(account.user, id);
  if (!webhook) throw notFound(`There is no webhook ${id}.`);
  return webhook;
}

/** Shows a webhook without its secret. */
export function presentWebhook({ id, url, events, createdAt, disabledAt }: Webhook): JsonObject {
  return { id, url, events, createdAt, disabledAt: disabledAt ?? null };
}

/** Shows a delivery with its attempts. */
export function presentDelivery(delivery: Delivery): JsonObject {
  const { id, event, job, state, createdAt, dueAt, attempts } = delivery;
  return {
    id,
    event,
    job,
    status: state,
    createdAt,
    nextAttemptAt: dueAt === undefined ? null : new Date(dueAt).toISOString(),
    attempts: attempts.map(({ at, status, latencyMs, error }) => ({
      at,
      status: status ?? null,
      latencyMs,
      ...(error === undefined ? {} : { error }),
    })),
  };
}
