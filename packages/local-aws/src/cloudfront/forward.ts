import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ForwardedRequest } from '../api-gateway/http/event.ts';

/** Headers that CloudFront forwards to no origin: hop-by-hop headers, and those a viewer could spoof. */
const removedHeaders = new Set([
  ...['connection', 'expect', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'x-forwarded-proto', 'x-real-ip'],
]);

/** An address that represents a CloudFront server: the API never sees its client's. */
const edgeAddress = '198.51.100.1';

/**
 * Returns a request as CloudFront sends it to an origin: with the viewer's headers except the host, the viewer's
 * address appended to those of earlier proxies, and the origin's own headers instead of the viewer's.
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
