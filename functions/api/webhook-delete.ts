import { endpoint } from '../../shared/http/endpoint.ts';
import { deleteWebhook } from '../../shared/webhooks/store.ts';
import { routes } from './routes.ts';
import { ownWebhook } from './webhook-view.ts';

export const handler = endpoint(routes['webhook-delete'], async ({ account, params }) => {
  await deleteWebhook(await ownWebhook(account, params.webhookId));
  return {};
});
