import * as z from 'zod';
import { webhookEvents } from '../../../shared/webhooks/webhook.ts';
import { Id, oneOf, Url } from '../http/fields.ts';
import { keyed, type Route } from '../http/route.ts';

const WebhookPath = () => z.object({ webhookId: Id });

export const webhookRoutes = {
  'webhook-create': {
    module: 'account/webhooks/create-webhook',
    ...keyed('POST', '/v1/account/webhooks', 'account', 'Real time'),
    summary: 'Register a webhook',
    permissions: ['webhook:query', 'webhook:put', 'accountSubscribers:update', 'audit:put'],
    body: () =>
      z.object({
        url: Url.describe('Receives a POST request with the event and the job.'),
        events: z
          .array(oneOf(webhookEvents))
          .min(1, 'Expected at least one event.')
          .default([...webhookEvents])
          .describe('Events that trigger a call. Defaults to all.'),
      }),
    success: 201,
    errors: [409],
    refusals: ['invalid_url', 'address_refused'],
    response: 'Webhook',
  },
  'webhook-list': {
    module: 'account/webhooks/list-webhooks',
    ...keyed('GET', '/v1/account/webhooks', 'read', 'Real time'),
    summary: 'List webhooks',
    permissions: ['webhook:query'],
    response: 'WebhookList',
  },
  'webhook-delete': {
    module: 'account/webhooks/delete-webhook',
    ...keyed('DELETE', '/v1/account/webhooks/{webhookId}', 'account', 'Real time'),
    summary: 'Delete a webhook',
    permissions: ['webhook:get', 'webhook:delete', 'accountSubscribers:update', 'audit:put'],
    params: WebhookPath,
  },
  'webhook-deliveries': {
    module: 'account/webhooks/list-deliveries',
    ...keyed('GET', '/v1/account/webhooks/{webhookId}/deliveries', 'read', 'Real time'),
    summary: 'List the deliveries of a webhook with their attempts',
    permissions: ['webhook:get', 'delivery:query'],
    params: WebhookPath,
    response: 'DeliveryList',
  },
  'webhook-replay': {
    module: 'account/webhooks/replay-delivery',
    ...keyed('POST', '/v1/account/webhooks/{webhookId}/deliveries/{deliveryId}/replay', 'account', 'Real time'),
    summary: 'Send a delivery again',
    permissions: ['webhook:get', 'delivery:get', 'delivery:put', 'webhooks:send'],
    params: () => WebhookPath().extend({ deliveryId: z.string().min(1).max(100) }),
    errors: [409],
    response: 'Delivery',
  },
} as const satisfies Record<string, Route>;
