import type { IncomingMessage } from 'node:http';
import type { ApiCors } from '../../template/model.ts';

/** Returns whether a request is a preflight, which the gateway handles if CORS is configured. */
export function isPreflight(request: IncomingMessage): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.headers.origin !== undefined &&
    request.headers['access-control-request-method'] !== undefined
  );
}

/** Returns the preflight headers for a request; none for an origin that is not allowed. */
export function preflightHeaders(cors: ApiCors, origin: string | undefined): Record<string, string> {
  const allowed = originHeaders(cors, origin);
  if (!allowed) return {};
  return {
    ...allowed,
    ...(cors.allowMethods.length > 0 && { 'access-control-allow-methods': cors.allowMethods.join(',') }),
    ...(cors.allowHeaders.length > 0 && { 'access-control-allow-headers': cors.allowHeaders.join(',') }),
    ...(cors.maxAgeSeconds !== undefined && { 'access-control-max-age': String(cors.maxAgeSeconds) }),
  };
}

/** Returns the headers that CORS adds to any other response. */
export function responseHeaders(cors: ApiCors, origin: string | undefined): Record<string, string> {
  const allowed = originHeaders(cors, origin);
  if (!allowed) return {};
  return {
    ...allowed,
    ...(cors.exposeHeaders.length > 0 && { 'access-control-expose-headers': cors.exposeHeaders.join(',') }),
  };
}

function originHeaders(cors: ApiCors, origin: string | undefined): Record<string, string> | undefined {
  if (origin === undefined) return undefined;
  if (cors.allowOrigins.includes('*')) return { 'access-control-allow-origin': '*' };
  if (!cors.allowOrigins.some((allowed) => matchesOrigin(allowed, origin))) return undefined;
  return { 'access-control-allow-origin': origin, vary: 'origin' };
}

function matchesOrigin(allowed: string, origin: string): boolean {
  // API Gateway treats `https://*` and `http://*` as any origin of that scheme.
  return allowed.endsWith('://*') ? origin.startsWith(allowed.slice(0, -1)) : allowed === origin;
}
