import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { distributionHeader } from '../../../shared/net/distribution.ts';

/**
 * Returns the IP address of the client. For requests through the distribution of the stack, this is the last address that
 * CloudFront added to X-Forwarded-For. The header of any other request is ignored, because clients can forge it.
 */
export function viewerAddress({ headers, requestContext }: APIGatewayProxyEventV2): string {
  const { sourceIp } = requestContext.http;
  if (!isFromDistribution(headers)) return sourceIp;
  const addresses = (headers['x-forwarded-for'] ?? '').split(',').map((address) => address.trim());
  // API Gateway appends the address of the CloudFront server.
  if (addresses.at(-1) === sourceIp) addresses.pop();
  return addresses.at(-1) || sourceIp;
}

/** Returns whether a request came through the distribution of the stack, so that its headers can be believed. */
export function isFromDistribution(headers: Record<string, string | undefined>): boolean {
  const key = process.env.LATHE_DISTRIBUTION_KEY;
  return key !== undefined && key !== '' && headers[distributionHeader] === key;
}
