import { deliveries } from '../../../../shared/aws/stores/webhook-deliveries.ts';
import { endpoint } from '../../http/endpoint.ts';
import { conflict, notFound } from '../../http/errors.ts';
import { routes } from '../../routes.ts';
import { ownedWebhook, presentDelivery } from './present-webhook.ts';

export const handler = endpoint(routes['webhook-replay'], async ({ account, params }) => {
  const { id, disabledAt } = await ownedWebhook(account, params.webhookId);
  if (disabledAt !== undefined)
    throw conflict('This webhook is disabled because its receiver responded with 410. Register it again.');
  const delivery = await deliveries.replay({ webhook: id, delivery: params.deliveryId });
  if (!delivery) throw notFound(`There is no delivery ${params.deliveryId}.`);
  return { body: presentDelivery(delivery) };
});
