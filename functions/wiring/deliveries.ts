import { sendDelivery } from '../../shared/aws/queues.ts';
import {
  createDelivery,
  disableWebhook,
  readDelivery,
  readWebhook,
  replaceDelivery,
  webhooksFor,
} from '../../shared/aws/webhook-store.ts';
import { writeMetrics } from '../../shared/metrics.ts';
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
  onFailed: ({ job, webhook, id, attemptCount }) =>
    writeMetrics(
      { WebhookFailures: 1 },
      {},
      { message: 'a delivery failed for good', jobId: job, webhook, delivery: id, attempts: attemptCount },
    ),
  now: Date.now,
});
