import { createHmac } from 'node:crypto';
import type { Delivery } from '../../../shared/webhooks/webhook.ts';

/** Signs a delivery attempt according to the Standard Webhooks specification. */
export function signedHeaders(
  { webhook, id, body }: Pick<Delivery, 'webhook' | 'id' | 'body'>,
  secret: string,
  now: number,
): Record<string, string> {
  const messageId = `msg_${webhook}_${id}`;
  const timestamp = String(Math.floor(now / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${messageId}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': messageId, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
