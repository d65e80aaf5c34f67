import { readNumberSettings } from '../../../shared/settings.ts';
import { authenticate } from './authenticate.ts';
import { handlerOf } from './chain.ts';
import { countRequest } from './rate-limit.ts';
import type { ApiRequest, ApiResponse, Route } from './route.ts';

const { ratePerMinute } = readNumberSettings(process.env);

/** Makes the Lambda handler of an endpoint that takes an API key. */
export function endpoint<const R extends Route & { access: 'key' }>(
  route: R,
  handle: (request: ApiRequest<R>) => Promise<ApiResponse>,
) {
  return handlerOf(
    route,
    async (headers) => {
      const account = await authenticate(headers);
      return { account, headers: await countRequest(account.user, ratePerMinute) };
    },
    handle,
  );
}
