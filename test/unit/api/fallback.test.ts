import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { expect, test } from 'vitest';
import { handler } from '../../../functions/api/service/fallback.ts';

const messageFor = async (path: string, method = 'GET') => {
  const { body } = await handler({ headers: {}, requestContext: { http: { method, path } } } as APIGatewayProxyEventV2);
  return JSON.parse(body ?? '').msg;
};

test.each([
  ['/v1/process/jobs/', 'Did you mean /v1/process/jobs?'],
  ['/v1/jobs', 'Did you mean /v1/process/jobs?'],
  ['/v1/process/job', 'Did you mean /v1/process/jobs?'],
  ['/v1/proces/convert', 'Did you mean /v1/process/convert?'],
  ['/', 'The API reference is at /docs.'],
  ['/v1/instant/resize', 'The API reference is at /docs.'],
])('a request to %s is told what was probably meant', async (path, hint) => {
  expect(await messageFor(path)).toBe(`There is no ${path}. ${hint}`);
});

test('a known path with another method is told the methods that it has', async () => {
  expect(await messageFor('/v1/process/jobs', 'PUT')).toBe(
    'PUT is not allowed for /v1/process/jobs. Allowed: GET, POST.',
  );
});
