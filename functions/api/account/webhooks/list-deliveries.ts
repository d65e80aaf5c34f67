import { listDeliveries } from '../../../../shared/aws/stores/webhook-store.ts';
import { endpoint } from '../../http/endpoint.ts';
import { routes } from '../../routes.ts';
import { ownedWebhook, presentDelivery } from './present-webhook.ts';

const maxDeliveries = 100;

export const handler = endpoint(routes['webhook-deliveries'], async ({ account, params }) => {
  const { id } = await ownedWebhook(account, params.webhookId);
  return { body: { docs: (await listDeliveries(id, maxDeliveries)).map(presentDelivery) } };
});
