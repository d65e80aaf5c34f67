import * as z from 'zod';
import { webhookEvents } from '../../../shared/webhooks/webhook.ts';
import { Id, oneOf, Url } from '../http/fields.ts';
import type { Route } from '../http/route.ts';

const WebhookPath = z.object({ webhookId: Id });

export const webhookRoutes = {
  'webhook-create': {
    module: 'account/webhooks/create-webhook',
    method: 'POST',
    path: '/v1/account/webhooks',
    summary: 'Register a webhook',
    tag: 'Real time',
    access: 'key',
    scope: 'account',
    permissions: ['webhook:query', 'webhook:put', 'accountSubscribers:update', 'audit:put'],
    get body() {
      return z.object({
        url: Url.describe('Receives a POST request with the event and the job.'),
        events: z
          .array(oneOf(webhookEvents))
          .min(1, 'Expected at least one event.')
          .default([...webhookEvents])
          .describe('Events that trigger a call. Defaults to all.'),
      });
    },
    success: 201,
    errors: [409],
    refusals: ['invalid_url', 'address_refused'],
    response: 'Webhook',
  },
  'webhook-list': {
    module: 'account/webhooks/list-webhooks',
    method: 'GET',
    path: '/v1/account/webhooks',
    summary: 'List webhooks',
    tag: 'Real time',
    access: 'key',
    scope: 'read',
    permissions: ['webhook:query'],
    success: 200,
    response: 'WebhookList',
  },
  'webhook-delete': {
    module: 'account/webhooks/delete-webhook',
    method: 'DELETE',
    path: '/v1/account/webhooks/{webhookId}',
    summary: 'Delete a webhook',
    tag: 'Real time',
    access: 'key',
    scope: 'account',
    permissions: ['webhook:get', 'webhook:delete', 'accountSubscribers:update', 'audit:put'],
    params: WebhookPath,
    success: 200,
  },
  'webhook-deliveries': {
    module: 'account/webhooks/list-deliveries',
    method: 'GET',
    path: '/v1/account/webhooks/{webhookId}/deliveries',
    summary: 'List the deliveries of a webhook with their attempts',
    tag: 'Real time',
    access: 'key',
    scope: 'read',
    permissions: ['webhook:get', 'delivery:query'],
    params: WebhookPath,
    success: 200,
    response: 'DeliveryList',
  },
  'webhook-replay': {
    module: 'account/webhooks/replay-delivery',
    method: 'POST',
    path: '/v1/account/webhooks/{webhookId}/deliveries/{deliveryId}/replay',
    summary: 'Send a delivery again',
    tag: 'Real time',
    access: 'key',
    scope: 'account',
    permissions: ['webhook:get', 'delivery:get', 'delivery:put', 'webhooks:send'],
    get params() {
      return WebhookPath.extend({ deliveryId: z.string().min(1).max(100) });
    },
    success: 200,
    errors: [409],
    response: 'Delivery',
  },
} as const satisfies Record<string, Route>;
