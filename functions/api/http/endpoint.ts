import { authenticate } from './authenticate.ts';
import { handlerOf } from './chain.ts';
import { admitRequest } from './rate-limit.ts';
import type { ApiRequest, ApiResponse, Route } from './route.ts';

/** Makes the Lambda handler of an endpoint that takes an API key. */
export function endpoint<const R extends Route & { access: 'key' }>(
  route: R,
  handle: (request: ApiRequest<R>) => Promise<ApiResponse>,
) {
  return handlerOf(
    route,
    async (headers) => {
      const account = await authenticate(headers);
      return { account, ...(await admitRequest(account, route)) };
    },
    handle,
  );
}
