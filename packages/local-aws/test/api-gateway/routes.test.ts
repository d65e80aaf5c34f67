import { expect, test } from 'vitest';
import { createRouter } from '../../src/api-gateway/http/routes.ts';
import { fixtureFunction } from '../lambda/fixtures/functions.ts';

const routerFor = (...routeKeys: string[]) =>
  createRouter(routeKeys.map((routeKey) => ({ routeKey, function: fixtureFunction('echo') })));

test.each([
  ['GET', '/pets/dog/1', 'GET /pets/dog/1'],
  ['GET', '/pets/dog/2', 'GET /pets/dog/{id}'],
  ['GET', '/pets/cat/1', 'GET /pets/{proxy+}'],
  ['POST', '/pets/dog/1', 'ANY /{proxy+}'],
  ['GET', '/', '$default'],
  ['GET', '/pets/dog/', 'GET /pets/{proxy+}'],
])('%s %s goes to %s', (method, path, routeKey) => {
  const route = routerFor('$default', 'ANY /{proxy+}', 'GET /pets/{proxy+}', 'GET /pets/dog/{id}', 'GET /pets/dog/1');

  expect(route(method, path)?.routeKey).toBe(routeKey);
});

test('a named method beats ANY on the same path', () => {
  const route = routerFor('ANY /a/{id}', 'GET /a/{key}');

  expect(route('GET', '/a/1')?.pathParameters).toEqual({ key: '1' });
  expect(route('PUT', '/a/1')?.pathParameters).toEqual({ id: '1' });
});

test('a request that no route takes has no match', () => {
  const route = routerFor('GET /a');

  expect(route('POST', '/a')).toBeUndefined();
  expect(route('GET', '/a/')).toBeUndefined();
  expect(route('GET', '/a/b')).toBeUndefined();
});

test('path parameters are decoded, and kept as they are when the encoding is malformed', () => {
  const route = routerFor('GET /a/{name}', 'GET /b/{rest+}');

  expect(route('GET', '/a/x%20y%2Fz')?.pathParameters).toEqual({ name: 'x y/z' });
  expect(route('GET', '/a/100%')?.pathParameters).toEqual({ name: '100%' });
  expect(route('GET', '/b/c/d%20e')?.pathParameters).toEqual({ rest: 'c/d e' });
});
