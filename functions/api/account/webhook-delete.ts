import { actorOf } from '../../../shared/accounts/audit.ts';
import { recordChange } from '../../../shared/aws/audit.ts';
import { unfollowByWebhook } from '../../../shared/aws/followers.ts';
import { deleteWebhook } from '../../../shared/aws/webhook-store.ts';
import { endpoint } from '../http/endpoint.ts';
import { routes } from '../routes.ts';
import { ownedWebhook, withoutQuery } from './webhook-view.ts';

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
  await unfollowByWebhook(account.user, params.webhookId);
  return {};
});
