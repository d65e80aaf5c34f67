import { listWebhooks } from '../../../../shared/aws/stores/webhook-store.ts';
import { endpoint } from '../../http/endpoint.ts';
import { routes } from '../../routes.ts';
import { presentWebhook } from './present-webhook.ts';

export const handler = endpoint(routes['webhook-list'], async ({ account }) => ({
  body: { docs: (await listWebhooks(account.user)).map(presentWebhook) },
}));
