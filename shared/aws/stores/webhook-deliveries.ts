import { writeMetrics } from '../../metrics.ts';
import { createDeliveries } from '../../webhooks/deliveries.ts';
import { sendDelivery } from '../queues.ts';
import {
  createDelivery,
  disableWebhook,
  readDelivery,
  readWebhook,
  replaceDelivery,
  webhooksFor,
} from './webhook-store.ts';

/** Webhook deliveries on the table and the queue. */
export const deliveries = createDeliveries({
  webhooksFor,
  webhook: ({ user, webhook }) => readWebhook(user, webhook),
  disable: disableWebhook,
  create: createDelivery,
  read: readDelivery,
  replace: replaceDelivery,
  send: sendDelivery,
  onFailed: ({ job, webhook, id, attemptCount }) =>
    writeMetrics(
      { WebhookFailures: 1 },
      {},
      { message: 'gave up on a delivery', jobId: job, webhook, delivery: id, attempts: attemptCount },
    ),
  now: Date.now,
});
