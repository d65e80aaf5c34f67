import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { acceptsPages, notFoundPage, plainPageHeaders } from '../../../shared/net/plain-page.ts';
import { nearestName } from '../../../shared/operations/nearest-name.ts';
import { usualHeaders } from '../http/usual-headers.ts';
import { routes } from '../routes.ts';

/**
 * Responds to requests that match no route: 405 with the allowed methods for a known path, 404 otherwise. People who open
 * a path outside the API in a browser get a page.
 */
export async function handler(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> {
  const { method, path } = event.requestContext.http;
  const allowed = Object.values(routes)
    .filter((route) => matches(route.path, path))
    .flatMap((route): string[] => ('alsoHead' in route ? [route.method, 'HEAD'] : [route.method]));
  if (allowed.length === 0 && !path.startsWith('/v1/') && acceptsPages(method, event.headers.accept))
    return { statusCode: 404, headers: plainPageHeaders, body: notFoundPage };
  if (allowed.length === 0) return respond(404, 'not_found', `There is no ${path}.${hintFor(path)}`);
  const Allow = allowed.join(', ');
  return respond(405, 'method_not_allowed', `${method} is not allowed for ${path}. Allowed: ${Allow}.`, { Allow });
}

/** Returns a sentence with the path that a client probably meant: without a slash at its end, misspelled or incomplete. */
function hintFor(path: string): string {
  const known = Object.values(routes).map((route) => route.path);
  const trimmed = path.replace(/\/+$/, '');
  if (known.some((template) => matches(template, trimmed))) return ` Did you mean ${trimmed}?`;
  const end = `/${trimmed.split('/').at(-1)}`;
  const meant = nearestName(trimmed, known) ?? known.find((template) => template.endsWith(end));
  return meant === undefined ? ' The API reference is at /docs.' : ` Did you mean ${meant}?`;
}

function matches(template: string, path: string): boolean {
  const expected = template.split('/');
  const actual = path.split('/');
  return (
    expected.length === actual.length &&
    expected.every((segment, index) => segment === actual[index] || (segment.startsWith('{') && actual[index] !== ''))
  );
}

function respond(
  statusCode: number,
  errorCode: string,
  msg: string,
  headers: Record<string, string> = {},
): APIGatewayProxyStructuredResultV2 {
  return {
    statusCode,
    headers: { 'Content-Type': 'application/json', ...usualHeaders, ...headers },
    body: JSON.stringify({ errorCode, msg }),
  };
}
