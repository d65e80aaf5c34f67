import { sendDelivery } from '../../shared/aws/queues.ts';
import {
  createDelivery,
  disableWebhook,
  readDelivery,
  readWebhook,
  replaceDelivery,
  webhooksFor,
} from '../../shared/aws/webhook-store.ts';
import { createDeliveries } from '../../shared/webhooks/deliveries.ts';

/** The deliveries on the real records and queue. */
export const deliveries = createDeliveries({
  webhooksFor,
  webhook: ({ user, webhook }) => readWebhook(user, webhook),
  disable: disableWebhook,
  create: createDelivery,
  read: readDelivery,
  replace: replaceDelivery,
  send: sendDelivery,
  now: Date.now,
});
