import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { expect, test, vi } from 'vitest';
import { viewerAddress } from '../../../functions/api/http/viewer.ts';
import { distributionHeader } from '../../../shared/net/distribution.ts';

const edge = '198.51.100.1';

function addressOf(headers: Record<string, string>): string {
  return viewerAddress({ headers, requestContext: { http: { sourceIp: edge } } } as unknown as APIGatewayProxyEventV2);
}

test.for<[string, Record<string, string>, string]>([
  ['the last before the distribution', { 'x-forwarded-for': `203.0.113.9, 192.0.2.1, ${edge}` }, '192.0.2.1'],
  ['also where API Gateway adds none', { 'x-forwarded-for': '203.0.113.9, 192.0.2.1' }, '192.0.2.1'],
  ['also one of IPv6', { 'x-forwarded-for': `2001:db8::1,${edge}` }, '2001:db8::1'],
  ['that of the connection where there is no other', {}, edge],
])('the address of a viewer is %s', ([, headers, expected]) => {
  vi.stubEnv('LATHE_DISTRIBUTION_KEY', 'key');
  expect(addressOf({ ...headers, [distributionHeader]: 'key' })).toBe(expected);
});

test('who does not come through the distribution is not believed to have another address', () => {
  const headers = { 'x-forwarded-for': `192.0.2.1, ${edge}` };
  vi.stubEnv('LATHE_DISTRIBUTION_KEY', 'key');
  expect(addressOf(headers)).toBe(edge);
  expect(addressOf({ ...headers, [distributionHeader]: 'other' })).toBe(edge);
  vi.stubEnv('LATHE_DISTRIBUTION_KEY', undefined);
  expect(addressOf({ ...headers, [distributionHeader]: '' })).toBe(edge);
});
