import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ForwardedRequest } from '../api-gateway/http/event.ts';
import type { EdgeRequest } from './edge-function.ts';

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
  changed?: EdgeRequest,
): ForwardedRequest {
  const own: Record<string, string> = {
    ...headers,
    host,
    via: `${request.httpVersion} edge.cloudfront.net (CloudFront)`,
    'x-amz-cf-id': randomBytes(42).toString('base64url'),
    'x-forwarded-for': [...(request.headersDistinct['x-forwarded-for'] ?? []), viewer].join(', '),
  };
  const kept = headersOf(request, changed).filter(([name]) => {
    const key = name.toLowerCase();
    return !removedHeaders.has(key) && !key.startsWith('x-edge-') && !Object.hasOwn(own, key);
  });
  const [, query] = (request.url ?? '').split('?', 2);
  return {
    address: edgeAddress,
    rawHeaders: [...Object.entries(own), ...kept].flat(),
    ...(changed ? { url: query === undefined ? changed.uri : `${changed.uri}?${query}` } : {}),
  };
}

/** Returns the headers of a request, or those that a function has changed them to. Functions see cookies apart from them. */
function headersOf({ rawHeaders }: IncomingMessage, changed: EdgeRequest | undefined): [string, string][] {
  const sent: [string, string][] = [];
  for (let index = 0; index < rawHeaders.length; index += 2)
    sent.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  if (!changed) return sent;
  const values = Object.entries(changed.headers).flatMap(([name, { value, multiValue = [{ value }] }]) =>
    multiValue.map((each): [string, string] => [name, each.value]),
  );
  return [...values, ...sent.filter(([name]) => name.toLowerCase() === 'cookie')];
}
