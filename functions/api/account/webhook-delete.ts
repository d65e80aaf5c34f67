import { unfollowByWebhook } from '../../../shared/aws/followers.ts';
import { deleteWebhook } from '../../../shared/aws/webhook-store.ts';
import { endpoint } from '../http/endpoint.ts';
import { routes } from '../routes.ts';
import { ownedWebhook } from './webhook-view.ts';

export const handler = endpoint(routes['webhook-delete'], async ({ account, params }) => {
  await deleteWebhook(await ownedWebhook(account, params.webhookId));
  await unfollowByWebhook(account.user, params.webhookId);
  return {};
});
