import { parseAllowHosts } from '../../shared/net/addresses.ts';
import { callReceiver } from '../../shared/webhooks/call.ts';
import { createDeliveries } from '../../shared/webhooks/deliveries.ts';
import { sendDelivery } from '../../shared/webhooks/queue.ts';
import {
  createDelivery,
  disableWebhook,
  readDelivery,
  readWebhook,
  replaceDelivery,
  webhooksFor,
} from '../../shared/webhooks/store.ts';

/** The deliveries on the real records, queue and network. */
export const deliveries = createDeliveries({
  webhooksFor,
  webhook: ({ user, webhook }) => readWebhook(user, webhook),
  disable: disableWebhook,
  create: createDelivery,
  read: readDelivery,
  replace: replaceDelivery,
  send: sendDelivery,
  call: (url, headers, body) => callReceiver(url, headers, body, parseAllowHosts(process.env.LATHE_ALLOW_HOSTS)),
  now: Date.now,
});
