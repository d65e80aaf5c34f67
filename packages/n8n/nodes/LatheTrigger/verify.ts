import { createHmac, timingSafeEqual } from 'node:crypto';

/** Older messages may have been recorded and sent again by somebody else. */
const maxAgeSeconds = 300;

interface SignedMessage {
  id: string | undefined;
  timestamp: string | undefined;
  signatures: string | undefined;
  body: Buffer;
}

/** Returns whether a message was signed with the secret of a webhook, by the Standard Webhooks specification. */
export function isGenuine(
  secret: string,
  { id, timestamp, signatures, body }: SignedMessage,
  now = Date.now(),
): boolean {
  if (!id || !timestamp || !signatures) return false;
  if (!(Math.abs(now / 1000 - Number(timestamp)) < maxAgeSeconds)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
