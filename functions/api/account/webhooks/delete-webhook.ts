import { actorOf } from '../../../../shared/accounts/audit.ts';
import { removeWebhookSubscriber } from '../../../../shared/aws/stores/account-subscribers.ts';
import { recordChange } from '../../../../shared/aws/stores/audit.ts';
import { deleteWebhook } from '../../../../shared/aws/stores/webhook-store.ts';
import { endpoint } from '../../http/endpoint.ts';
import { routes } from '../../routes.ts';
import { ownedWebhook, withoutQuery } from './present-webhook.ts';

export const handler = endpoint(routes['webhook-delete'], async ({ account, params, source }) => {
  const webhook = await ownedWebhook(account, params.webhookId);
  await recordChange(account.user, {
    action: 'webhook.deleted',
    subject: webhook.id,
    name: withoutQuery(webhook.url),
    actor: actorOf(account),
    ...source,
  });
  await deleteWebhook(webhook);
  await removeWebhookSubscriber(account.user, params.webhookId);
  return {};
});
