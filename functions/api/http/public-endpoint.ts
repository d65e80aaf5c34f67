import { handlerOf } from './chain.ts';
import type { ApiRequest, ApiResponse, Route } from './route.ts';

/** Creates the Lambda handler of an endpoint without authentication, whose responses have these headers. */
export function publicEndpoint<const R extends Route & { access: 'public' }>(
  route: R,
  handle: (request: ApiRequest<R>) => Promise<ApiResponse>,
  headers: Record<string, string> = {},
) {
  return handlerOf(route, async () => ({ headers }), handle);
}
