import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { distributionHeader } from '../../../shared/net/distribution.ts';

/**
 * Returns the address that a request comes from. Where the stack's distribution has passed it on, API Gateway sees one of
 * CloudFront's servers; the viewer's is the last that CloudFront has written down. Nobody else is believed.
 */
export function viewerAddress({ headers, requestContext }: APIGatewayProxyEventV2): string {
  const { sourceIp } = requestContext.http;
  const key = process.env.LATHE_DISTRIBUTION_KEY;
  if (!key || headers[distributionHeader] !== key) return sourceIp;
  const addresses = (headers['x-forwarded-for'] ?? '').split(',').map((address) => address.trim());
  // API Gateway adds where it has the request from.
  if (addresses.at(-1) === sourceIp) addresses.pop();
  return addresses.at(-1) || sourceIp;
}
