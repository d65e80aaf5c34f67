import { actorOf } from '../../../../shared/accounts/audit.ts';
import { addWebhookSubscriber } from '../../../../shared/aws/stores/account-subscribers.ts';
import { recordChange } from '../../../../shared/aws/stores/audit.ts';
import { listWebhooks, storeWebhook } from '../../../../shared/aws/stores/webhook-store.ts';
import { newId } from '../../../../shared/ids.ts';
import { newSecret, type Webhook } from '../../../../shared/webhooks/webhook.ts';
import { endpoint } from '../../http/endpoint.ts';
import { conflict } from '../../http/errors.ts';
import { routes } from '../../routes.ts';
import { checkWebhookUrl } from './check-webhook-url.ts';
import { presentWebhook, withoutQuery } from './present-webhook.ts';

const maxWebhooks = 20;

export const handler = endpoint(routes['webhook-create'], async ({ account, body, source }) => {
  checkWebhookUrl(body.url, 'url');
  if ((await listWebhooks(account.user)).length >= maxWebhooks)
    throw conflict(`An account can have at most ${maxWebhooks} webhooks. Delete one that is no longer needed.`);
  const webhook: Webhook = {
    id: newId(),
    user: account.user,
    url: body.url,
    events: [...new Set(body.events)],
    secret: newSecret(),
    createdAt: new Date().toISOString(),
  };
  await recordChange(account.user, {
    action: 'webhook.created',
    subject: webhook.id,
    name: withoutQuery(webhook.url),
    actor: actorOf(account),
    ...source,
  });
  await addWebhookSubscriber(account.user, webhook.id);
  await storeWebhook(webhook);
  return { body: { ...presentWebhook(webhook), secret: webhook.secret } };
});
