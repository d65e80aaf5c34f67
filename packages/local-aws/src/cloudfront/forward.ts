import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ForwardedRequest } from '../api-gateway/http/event.ts';

/** What CloudFront passes on to no origin: what belongs to one connection, and what a viewer might say of itself. */
const removedHeaders = new Set([
  ...['connection', 'expect', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'x-forwarded-proto', 'x-real-ip'],
]);

/** An address that stands for one of CloudFront's servers: what the API sees is never that of its client. */
const edgeAddress = '198.51.100.1';

/**
 * Returns a request as CloudFront sends it to an origin: with the headers of the viewer but for the host, with the viewer's
 * address after those of proxies before it, and with the headers of the origin in place of those that the viewer gave.
 */
export function forwardedTo(
  { host, headers }: { host: string; headers: Record<string, string> },
  request: IncomingMessage,
  viewer: string,
): ForwardedRequest {
  const own: Record<string, string> = {
    ...headers,
    host,
    via: `${request.httpVersion} edge.cloudfront.net (CloudFront)`,
    'x-amz-cf-id': randomBytes(42).toString('base64url'),
    'x-forwarded-for': [...(request.headersDistinct['x-forwarded-for'] ?? []), viewer].join(', '),
  };
  const kept: string[] = [];
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(index, index + 2);
    const key = name.toLowerCase();
    if (!removedHeaders.has(key) && !key.startsWith('x-edge-') && !Object.hasOwn(own, key)) kept.push(name, value);
  }
  return { address: edgeAddress, rawHeaders: [...Object.entries(own).flat(), ...kept] };
}
