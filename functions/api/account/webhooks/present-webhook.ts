import type { Caller } from '../../../../shared/accounts/caller.ts';
import { readWebhook } from '../../../../shared/aws/stores/webhook-store.ts';
import { defined } from '../../../../shared/defined.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';
import type { Delivery, Webhook } from '../../../../shared/webhooks/webhook.ts';
import { notFound } from '../../http/errors.ts';

/** Returns a webhook of the caller. Throws the same 404 for unknown webhooks and those of other accounts. */
export async function ownedWebhook(account: Caller, id: string): Promise<Webhook> {
  const webhook = await readWebhook(account.user, id);
  if (!webhook) throw notFound(`There is no webhook ${id}.`);
  return webhook;
}

/** Returns the URL of a webhook without its query, which may contain a secret that must not enter the audit log. */
export function withoutQuery(url: string): string {
  const [start = ''] = url.split(/[?#]/, 1);
  return start.slice(0, 300);
}

/** Presents a webhook without its secret. */
export function presentWebhook({ id, url, events, createdAt, disabledAt }: Webhook): JsonObject {
  return { id, url, events, createdAt, disabledAt: disabledAt ?? null };
}

/** Presents a delivery with its attempts. */
export function presentDelivery(delivery: Delivery): JsonObject {
  const { id, event, job, state, createdAt, dueAt, attempts } = delivery;
  return {
    id,
    event,
    job,
    status: state,
    createdAt,
    nextAttemptAt: dueAt === undefined ? null : new Date(dueAt).toISOString(),
    attempts: attempts.map(({ at, status, latencyMs, error }) =>
      defined({ at, status: status ?? null, latencyMs, error }),
    ),
  };
}
