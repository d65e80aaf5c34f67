import { handlerOf } from './chain.ts';
import type { ApiRequest, ApiResponse, Route } from './route.ts';

/** Makes the Lambda handler of an endpoint that takes no API key, without the client of the table that would check one. */
export function publicEndpoint<const R extends Route & { access: 'public' }>(
  route: R,
  handle: (request: ApiRequest<R>) => Promise<ApiResponse>,
) {
  return handlerOf(route, async () => ({ headers: {} }), handle);
}
