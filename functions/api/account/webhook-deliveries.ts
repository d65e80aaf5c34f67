import { listDeliveries } from '../../../shared/aws/webhook-store.ts';
import { endpoint } from '../http/endpoint.ts';
import { routes } from '../routes.ts';
import { ownWebhook, presentDelivery } from './webhook-view.ts';

const most = 100;

export const handler = endpoint(routes['webhook-deliveries'], async ({ account, params }) => {
  const { id } = await ownWebhook(account, params.webhookId);
  return { body: { docs: (await listDeliveries(id, most)).map(presentDelivery) } };
});
