import { endpoint } from '../../shared/http/endpoint.ts';
import { listWebhooks } from '../../shared/webhooks/store.ts';
import { routes } from './routes.ts';
import { presentWebhook } from './webhook-view.ts';

export const handler = endpoint(routes['webhook-list'], async ({ account }) => ({
  body: { docs: (await listWebhooks(account.user)).map(presentWebhook) },
}));
